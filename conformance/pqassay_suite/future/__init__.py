"""Files from the future: how current readers handle additions of later format versions.

`files` derives them from the grammar, `asking` tests a driver with them.
"""
