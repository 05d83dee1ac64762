"""Pages under test: a walk from header to header, where pages are by their offset index, and what a column index says about them."""
