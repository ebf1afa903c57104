"""The wiki over HTTP, for programs."""
