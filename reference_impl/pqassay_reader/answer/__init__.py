"""Answers to questions about whole files: from metadata if they are enough; DuckDB computes the rest from rows.

Contents: questions (`question`), facts about the files (`lake`), row groups that can be answered without rows
(`settling`, `zones`), the rows of the others (`row_tables`), estimates from sketches (`estimates`), sums,
order and limit by DuckDB (`tally`), and the combination of all (`answerer`).

Theory of operation: a lake is a list of row groups.  Folders, distinct sets and statistics exclude those in which no row satisfies
the condition.  Each of the others is answered by its footer or by zone sums if possible.  If not, the columns of the question are
read as Arrow tables, and filtered.  Both go into one table of partial sums in DuckDB, which groups and orders them.  An index is
read when a question first needs its columns, and only if it is small compared with the rows.
"""
