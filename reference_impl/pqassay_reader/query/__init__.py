"""The scan: rows of files that satisfy a condition, by a ladder of ten techniques, each with a switch and a counter.

Contents: the rungs and what they save, the facts about a file and where they come from, the ranges that are fetched, the pages
of a field and their decoding, the order in which columns are read, and the stream of batches.  Excluded: what one
structure claims and when that counts (`pqassay_reader.pages`), and anything of the judge.

Theory of operation: a file is opened by its metadata (rung *metadata*); of its columns those are looked at that the query
needs (*projection*); its own index may rule it out (*files*); statistics and bloom filters leave some row groups (*row-groups*), of those
distinct sets some (*sets*), column indexes some ranges of rows (*pages*).  These ranges are cut into windows.  For each window the columns of the condition are
read one after the other, each for the rows that are left, then the rest (*late*).  A dictionary is read where a page refers to
it (*dictionaries*), the pages of a step are fetched in few requests (*fetch*), and windows are worked on ahead of the consumer,
in order, within bounded memory (*stream*).  Each rung only leaves out what cannot change the result, so any of them can be switched off.

Source: chapter ``scan.md``.
"""
