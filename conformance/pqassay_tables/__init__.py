"""A plug-in of the judge for tables: the claims of Delta and Iceberg tables about their files.

Contents: reading of metadata (`metadata`), a table and the claims about its files under test (`under_test`),
tests of these claims on values (`values`), rules about both (`checks`), the bytes of metadata (`dump`),
engines that read tables (`proof`), and the interface of the judge to each format (`formats`).

Excluded: code that applies to any file.  The judge finds the rooms by their names (`pqassay.plugins`), has
the model of claims that each format feeds (`pqassay.tables`), and works without this package.

How a table is judged: the metadata are read into facts as they are written.  Rules of tier ``meta`` judge these facts against each
other and against the lengths of files.  Each live file gets its claims, and is judged as the Parquet file that it is, with the claims
beside the footer's own.
"""
