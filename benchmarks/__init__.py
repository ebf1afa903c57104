"""Retrieval and speed, measured on public data that stays outside of the repository."""
