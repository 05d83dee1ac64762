"""Claims of a Parquet file about its own values, put to the values.

What lives here: the audit of all values (`audit`), what families of claims have in common (`claim`, `outcomes`), and the families
themselves: statistics, page headers and page indexes, bloom filters, sorting columns, logical types, an embedded index.

What never comes in: how pages are decoded.
"""
