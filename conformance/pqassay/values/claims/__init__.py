"""Claims of a Parquet file about its own values, put to the values.

Contents: the audit of all values (`audit`), how rules are put to them (`value_rules`, `outcomes`), the kinds of claims that
several rules make (`bound_claims`, `count_claims`), and what is found out about values for rules to compare: extremes beside bounds
(`bounds`), the order of rows, bloom filters, texts, geometries, the columns beside an embedded index.  The rules are in
`pqassay.checks`.

Excluded: decoding of pages.
"""
