"""Claims of a Parquet file about its own values, and their comparison with the values.

Contents: the audit of all values (`audit`), the testing of rules on them (`value_rules`, `outcomes`), and kinds of claims that several
rules make (`bound_claims`, `count_claims`). Other modules compare values: with bounds (`bounds`), by order of rows, with bloom filters, as
texts, as geometries, or with an embedded index. The rules are in `pqassay.checks`.

Excluded: decoding of pages.
"""
