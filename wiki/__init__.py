"""Pages, revisions and attachments of the organisation's wiki."""
