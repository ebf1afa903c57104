"""Pages in and out as a folder or zip of Markdown with its files."""
