"""The pages of the wiki: each parses, calls what the API calls, and responds."""
