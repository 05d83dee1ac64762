"""Bytes and values that a scan fetches: pages of a field, ranges of a file, in few requests and ahead of the consumer."""
