"""Proofs about tables: engines, queries that show the effect of a false claim, and the true rows; see `pqassay.proof`.

Contents: the interface of formats for engines (`table_formats`), programs of engines, the plan of queries of
a table, plain tables of the same rows, and measured pairs of golden tables (`table_pairs`).
"""
