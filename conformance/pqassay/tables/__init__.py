"""Tables, whatever their format: what the judge has of them where a plug-in reads their metadata.

What lives here: the claims that a table makes about one data file (`claims`), the one model that all formats feed and all checks of
data files read; the files of a table as its readers need them (`files`); and what is kept of tables during one check (`kept`).

What never comes in: a format, which is that of a plug-in (`pqassay.plugins`); verdicts; and how files are reached.
"""
