"""Delta tables: the log, read into facts as they are written.

What lives here: the files of a log that make a version (`segment`), their actions (`actions`, `checkpoint`), the columns (`schema`), what
is claimed about files (`statistics`, `values`, `vectors`), and the state of the table at a version with all of these (`state`).
"""
