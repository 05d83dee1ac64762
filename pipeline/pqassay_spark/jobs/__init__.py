"""Spark itself: Java, sessions, and jobs.

What lives here: the only code that starts Java, starts a session or runs a job, sends the package to executors, and
counts what Spark did.  What never comes in: what a job is about.
"""
