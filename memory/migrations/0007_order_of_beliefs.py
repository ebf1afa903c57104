import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('memory', '0006_belief_revision'),
    ]

    operations = [
        migrations.CreateModel(
            name='MemoryBelief',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('waiting', models.BooleanField(default=False)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('next_attempt_at', models.DateTimeField(blank=True, null=True)),
                ('last_error', models.CharField(blank=True, default='', max_length=500)),
                ('memory', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='belief', to='memory.memory')),
            ],
            options={
                'verbose_name': 'belief',
                'db_table': 'memory_beliefs',
            },
        ),
        migrations.DeleteModel(
            name='MemoryJudging',
        ),
        migrations.AddIndex(
            model_name='memorybelief',
            index=models.Index(condition=models.Q(('waiting', True)), fields=['next_attempt_at', 'id'], name='memory_beliefs_waiting'),
        ),
    ]
