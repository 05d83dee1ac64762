"""Repair plans: from a report, the list of affected files, and the statements that repair their tables.

Contents: reading of reports (`reports`), finding their tables and files and grouping them by repair
(`planning`), statements for the tables' own software (`delta`, `iceberg`), and writing a plan (`writing`).
Excluded: judging, and changes to tables. A table is repaired by the software that writes it, or its records
break.
"""
