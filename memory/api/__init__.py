"""The REST API of the engine."""
