"""Scoped memories: records, chunks, search and beliefs."""
