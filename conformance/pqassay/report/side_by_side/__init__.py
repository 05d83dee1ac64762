"""Several results of runs, one beside the other."""
