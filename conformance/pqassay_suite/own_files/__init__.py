"""A user's own files instead of golden files: their features, and the rows that two independent readers agree on."""
