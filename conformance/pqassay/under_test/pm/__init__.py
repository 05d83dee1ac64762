"""``_pm`` files under test: the file and its snapshots, its chunks, their bounds and bloom filters."""
