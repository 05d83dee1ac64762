"""Tables: what Delta and Iceberg say about their files, as a plug-in of the judge.

What lives here: metadata that are read into facts (`metadata`), a table and the claims about its files under test (`under_test`), these claims put
to the values (`values`), rules about both (`checks`), the bytes of metadata (`dump`), engines that read tables (`proof`), and what the judge asks of
each format (`formats`).

What never comes in: what is so of any file.  The judge finds the rooms by their names (`pqassay.plugins`), has the model of claims that each
format feeds (`pqassay.tables`), and works without this package.

How a table is judged: the metadata are read into facts as they are written.  Rules of tier ``meta`` judge these facts against each
other and against the lengths of files.  Each live file gets its claims, and is judged as the Parquet file that it is, with the claims
beside the footer's own.
"""
