"""The metadata of tables, read and made comparable.

What lives here: a room for each format that reads its metadata (`delta`, `iceberg`), Avro files, moments as both write them, who wrote a file
(`owner`), and how what is wrong is repaired (`repairs`).

What never comes in: verdicts; and how files are reached, which `pqassay.tables.files.TableFiles` says and `pqassay.stores` does.  ``pyarrow`` is
imported where a checkpoint is read, in a process of its own, and nowhere else.
"""
