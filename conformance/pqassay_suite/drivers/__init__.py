"""Drivers: the protocol, the process of a driver and its messages, and the shipped drivers.

Contents: requests and answers (`protocol`), processes and sessions with their limits, the runner's view of a
driver, and readable excerpts of its output.

Excluded: judging whether an answer is right.
"""
