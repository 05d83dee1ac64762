"""The log of Delta tables, parsed into facts.

Contents: the log files of a version (`segment`), their actions (`actions`, `checkpoint`), the columns
(`schema`), the claims about files (`statistics`, `values`, `vectors`), and the complete state of the table at
a version (`state`).
"""
