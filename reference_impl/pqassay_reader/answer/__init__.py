"""Answers to questions about whole files, from what their index directories say of them, and from rows only where that does not suffice.

What lives here: the questions that can be asked (`question`), what is known of the files (`known_lake`), which of it a question can be
answered from (`plan`), the rows that have to be read (`row_reading`), the tallies that sums and rows are added to (`tally`), and all of it together (`answerer`).  What never comes in: how an index is read
(`pqassay_reference.directory`).

Theory of operation: a lake is a list of row groups.  Distinct sets leave out those in which no row satisfies the condition.  Of those that are left, each
is answered by zone sums if the condition and the grouping speak of keys, or are settled for all its rows by distinct sets.  The rows of the
others are read.  Both kinds of answers are added up exactly, group by group, and rounded at the end.
"""
