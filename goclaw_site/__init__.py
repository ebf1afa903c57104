"""The project: settings, typed configuration, errors, URLs, server and the `up` command."""

__version__ = "0.1.0"
