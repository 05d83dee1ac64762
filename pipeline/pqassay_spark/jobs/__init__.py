"""Spark itself: Java, sessions, and jobs.

Contents: the only code that starts Java, starts a session or runs a job, sends the package to executors, and
counts what Spark did.  Excluded: what a job is about.
"""
