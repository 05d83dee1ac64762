"""Files from the future: what today's readers do with what a later version of the format adds.

`files` derives them from the grammar, `asking` puts them to a driver.
"""
