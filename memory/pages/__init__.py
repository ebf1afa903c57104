"""The pages of the memory app: each parses, calls what the API calls, and responds."""
