"""Results of runs: which features of Parquet they show as supported."""
