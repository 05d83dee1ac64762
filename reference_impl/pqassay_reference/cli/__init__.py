"""Commands of `pqassay`, and the driver by which the conformance runner tests the reference.

Contents: options, text and exit codes.  Excluded: reading and writing of formats; libraries are
imported by the command that needs them.
"""
