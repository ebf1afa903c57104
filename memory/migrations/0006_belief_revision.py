import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('memory', '0005_duplicates'),
    ]

    operations = [
        migrations.CreateModel(
            name='MemoryJudging',
            fields=[
                ('memory', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, serialize=False, to='memory.memory')),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('next_attempt_at', models.DateTimeField(blank=True, db_index=True, null=True)),
                ('last_error', models.CharField(blank=True, default='', max_length=500)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                'verbose_name': 'record to be judged',
                'verbose_name_plural': 'records to be judged',
                'db_table': 'memory_judging',
            },
        ),
        migrations.AddField(
            model_name='memoryrevision',
            name='final',
            field=models.BooleanField(default=True),
        ),
        migrations.AddField(
            model_name='memoryrevision',
            name='merged',
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name='memoryrevision',
            name='undone_reason',
            field=models.TextField(blank=True, default=''),
        ),
        migrations.CreateModel(
            name='MemoryVeto',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('access', models.CharField(max_length=40)),
                ('low', models.CharField(max_length=64)),
                ('high', models.CharField(max_length=64)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                'verbose_name': 'veto',
                'verbose_name_plural': 'vetoes',
                'db_table': 'memory_vetoes',
                'constraints': [models.UniqueConstraint(fields=('access', 'low', 'high'), name='memory_vetoes_once')],
            },
        ),
        migrations.CreateModel(
            name='MemorySubject',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('access', models.CharField(max_length=40)),
                ('key', models.CharField(max_length=32)),
                ('memory', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='subjects', to='memory.memory')),
            ],
            options={
                'verbose_name': 'subject',
                'db_table': 'memory_subjects',
                'indexes': [models.Index(fields=['access', 'key'], name='memory_subjects_by_key')],
                'constraints': [models.UniqueConstraint(fields=('memory', 'key'), name='memory_subjects_once')],
            },
        ),
    ]
