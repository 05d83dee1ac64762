"""Pages under test: the walk from header to header, their places in the offset index, and their bounds in the column index."""
