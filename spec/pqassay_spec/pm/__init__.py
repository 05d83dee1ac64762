"""``_pm``: the metadata file that QuestDB stores beside ``data.parquet``, with its chain of snapshots.

Contents: the grammar (`grammar`, `codes`, `types`); reading (`header`, `file`, `section`, `block`), also of a file as one value
and as JSON (`value*`); when a row group may be skipped (`skip`); the file that pins snapshots (`txn`); and everything that
follows from the footer of a Parquet file (`from_parquet`).
"""
