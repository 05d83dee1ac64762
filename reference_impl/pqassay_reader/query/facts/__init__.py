"""The facts about a file before a scan fetches data: from its footer, or from the ``_pm`` beside it."""
