"""From the footer of a Parquet file to a snapshot of ``_pm``: columns, bounds, sorting, and QuestDB's own key."""
