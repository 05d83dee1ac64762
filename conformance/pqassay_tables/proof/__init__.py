"""Proofs about tables: engines that read them, queries that show what a false claim does, and the true rows; see `pqassay.proof`.

What lives here: what each format answers when engines are asked (`table_formats`), their programs, the plan of the queries of a table, plain tables of the same
rows, and pairs of golden tables that are measured (`table_pairs`).
"""
