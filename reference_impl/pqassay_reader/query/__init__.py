"""The scan: rows of files that satisfy a condition, by a ladder of ten techniques, each with a switch and a counter.

Contents: the rungs and their savings, the facts about a file and their sources, the fetched ranges, the pages
of a field and their decoding, the order of reading columns, and the stream of batches.  Excluded: claims of
single structures and their validity (see `pqassay_reader.pages`), and code of the judge.

Theory of operation: a file is opened by its metadata (rung *metadata*), and only the columns of the query are
used (*projection*). Its own index may exclude it (*files*). Statistics and bloom filters (*row-groups*) and
distinct sets (*sets*) exclude row groups, and column indexes exclude ranges of rows (*pages*).  These ranges
are cut into windows.  For each window the columns of the condition are read one after the other, each for the
remaining rows, then the other columns (*late*).  A dictionary is read if a page refers to it (*dictionaries*), and the
pages of a step are fetched in few requests (*fetch*). Windows are processed ahead of the consumer, in
order and with bounded memory (*stream*).  No rung can change the result, so any of
them can be switched off.

Source: chapter ``scan.md``.
"""
