"""Read indexes from a file: the usable entries, their blobs, and the content of these."""
