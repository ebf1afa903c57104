import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('memory', '0004_model_calls'),
    ]

    operations = [
        migrations.CreateModel(
            name='MemoryOutline',
            fields=[
                ('memory', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='outlined', serialize=False, to='memory.memory')),
                ('content_hash', models.CharField(max_length=64)),
                ('outline', models.CharField(db_index=True, max_length=40)),
            ],
            options={
                'db_table': 'memory_outlines',
            },
        ),
        migrations.AddField(
            model_name='memorychunk',
            name='outline',
            field=models.CharField(blank=True, max_length=40, null=True),
        ),
        migrations.AddIndex(
            model_name='memorychunk',
            index=models.Index(fields=['duplicate_of'], name='memory_chunks_repeats'),
        ),
        migrations.AddIndex(
            model_name='memorychunk',
            index=models.Index(fields=['outline'], name='memory_chunks_outlines'),
        ),
    ]
