"""Indexes for a lake: IDX1 embedded into every file on executors, and ``_pm`` files made beside them.

Contents: listing, the work on one file, its retries and its outcome, and the maintenance of the index table.  The changes
to the bytes of a file are in `pqassay_reference`.
"""
