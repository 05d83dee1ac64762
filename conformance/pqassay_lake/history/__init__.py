"""What checks found, run after run: the history of a lake.

Contents: the columns of a history (`columns`), the rows that a run appends (`run`), the places where a history is kept
(`stores`: a folder of Parquet files, a Delta table, an Iceberg table), and the views on it (`views`): what is new since the last run, by writer,
by rule, by owner.

Excluded: judging files.  A run is a report, and what is known of its targets.
"""
