"""Sample data: sales of any size, and the matrix of the options and types of Spark's writer."""
