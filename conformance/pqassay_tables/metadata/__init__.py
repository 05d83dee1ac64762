"""The metadata of tables, parsed and in comparable form.

Contents: a package for the metadata of each format (`delta`, `iceberg`), Avro files, dates and timestamps of
both, the owner of a file (`owner`), and repairs (`repairs`).

Excluded: verdicts; and access to files, which `pqassay.tables.files.TableFiles` declares and `pqassay.stores`
implements.  ``pyarrow`` is imported where a checkpoint is read, in a separate process, and nowhere else.
"""
