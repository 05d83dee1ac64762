"""The old place of datasets of many files, which are in `pqassay_reader.lake` since 0.8. It is removed in 1.0."""
