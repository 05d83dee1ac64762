"""The commands of the reader, and the driver by which the conformance runner tests the reference and the reader.

Contents: options, text and exit codes.  Excluded: reading of formats; libraries are imported by the
command that needs them.
"""
