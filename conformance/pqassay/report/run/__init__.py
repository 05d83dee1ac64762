"""The report of a run: its model, its view for templates, and its text."""
