"""Sample data: sales of any size, and the matrix of everything that Spark's writer can do."""
