"""Make indexes from the data of a file: values in groups, the blob of each type, and the entry that describes it."""
