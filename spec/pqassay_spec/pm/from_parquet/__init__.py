"""From the footer of a Parquet file to a snapshot of ``_pm``: columns, bounds, sorting, and the key in which QuestDB keeps what Parquet cannot say."""
