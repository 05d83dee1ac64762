"""Indexes for a lake: IDX1 embedded into every file on executors, and ``_pm`` files made beside them.

Contents: listing, the work on one file, its retries and its outcome, and the upkeep of the index table.  What is done to the
bytes of a file is in `pqassay_reference`.
"""
