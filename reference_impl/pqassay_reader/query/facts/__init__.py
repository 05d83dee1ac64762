"""What a scan knows of a file before it fetches any data: from the footer, or from the ``_pm`` beside it."""
