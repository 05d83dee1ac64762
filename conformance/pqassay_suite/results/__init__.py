"""Results of runs: what they show of each feature of Parquet."""
