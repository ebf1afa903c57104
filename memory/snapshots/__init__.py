"""Snapshots: a whole installation in one file that any database driver can load."""
