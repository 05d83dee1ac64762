"""The index directory at work: indexes made from the data of a file, and written into it.

What lives here: the values of described columns (`described_data`), one module for each type of index that is made from them (`distinct_sets`,
`zone_sums` with `exact_sums` and `grouping`, `sketches`), the entry around it (`making`), and the file that gets it or loses it (`embedding`).  `inventory` says what
a file has.

What never comes in: the bytes of a footer, which `pqassay_reference.rewrite` changes, and commands.
"""
