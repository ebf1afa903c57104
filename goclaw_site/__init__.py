"""The project: settings, typed configuration, errors, URLs, server and the `up` command."""
