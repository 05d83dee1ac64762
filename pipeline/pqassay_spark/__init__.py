"""The pipeline on Apache Spark: write Parquet files, index them, check them.

What lives in this package: everything that needs Spark.  It may use the specification, the reference and the
judge; nothing else may use it.  Importing it starts no Java and imports no ``pyspark``: only the functions
that need them do.
"""
