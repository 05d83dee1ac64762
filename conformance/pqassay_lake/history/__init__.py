"""The history of a lake: the findings of checks, run after run.

Contents: the columns of a history (`columns`), the rows that a run appends (`run`), the places where a history is kept
(`stores`: a folder of Parquet files, a Delta table, an Iceberg table), and the views on it (`views`): what is new since the last run, by writer,
by rule, by owner.

Excluded: judging files. A run consists of a report and data about its targets.
"""
