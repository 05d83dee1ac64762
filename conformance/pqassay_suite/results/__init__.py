"""Results of runs: whether those that others submit are valid, and what results show of each feature of Parquet."""
