"""Repair plans: from a report, the list of files that are concerned, and the statements that repair them where they live.

Contents: reading what a report says (`reports`), finding the tables and files that it is about and grouping them by repair
(`planning`), the statements that tables' own software runs (`delta`, `iceberg`), and writing a plan (`writing`).
Excluded: judging, and changing anything. A table is repaired by the software that writes it, or its records break.
"""
