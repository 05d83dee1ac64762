"""``_pm``: written, read, queried, and made from a Parquet file.

What lives here: the writer with its snapshots and crash safety (`write`, `parts`, `storage`, `history`), the reader (`read`), queries that
skip row groups (`query`), and the generator (`generate`, `column_values`).
"""
