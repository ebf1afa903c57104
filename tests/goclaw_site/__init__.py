"""Configuration, state directory, server and commands."""
