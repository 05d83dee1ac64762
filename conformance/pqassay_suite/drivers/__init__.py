"""Drivers: the protocol, the process of a driver and what is said to it, and which drivers come with pqassay.

Contents: requests and answers (`protocol`), processes and sessions with their limits, a driver as the runner sees it, and what it
wrote, cut to what people read.

Excluded: whether an answer is right.
"""
