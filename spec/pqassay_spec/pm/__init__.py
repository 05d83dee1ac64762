"""``_pm``: the metadata file that QuestDB keeps beside ``data.parquet``, with its chain of snapshots.

What lives here: the grammar (`grammar`, `codes`), reading (`header`, `file`, `section`, `block`), what is read as one value and
as JSON (`value*`, `json`), how bounds compare (`order`, `bounds`), when a row group may be skipped (`skip`), and what follows from a Parquet file
(`from_parquet`, `types`).
"""
