"""Spark itself: Java, sessions, and jobs.

Contents: the only code that starts Java or a session, runs jobs, sends the package to executors, and counts
Spark's work.  Excluded: the contents of jobs.
"""
