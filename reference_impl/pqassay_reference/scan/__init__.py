"""The scan: rows of one file that satisfy a predicate, reading no more pages than its indexes leave over."""
