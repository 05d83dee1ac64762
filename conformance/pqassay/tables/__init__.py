"""Tables: what Delta and Iceberg say of data files, read and made comparable.

What lives here: the claims that a table makes about one data file (`claims`), the one model that all formats feed and all checks of
data files read; where in the table's own files a claim is written (`json_places`); and a room for each format that reads its metadata
(`delta`).

What never comes in: verdicts; and how files are reached, which `files.TableFiles` says and `pqassay.stores` does.  ``pyarrow`` is
imported where a checkpoint is read, in a process of its own, and nowhere else.

How a table is judged: the metadata is read into facts as they are written.  Rules of tier ``meta`` judge these facts against each
other and against the lengths of files.  Each live file gets its claims, and is judged as the Parquet file that it is, with the claims
beside the footer's own.
"""
