"""Files under test: their bytes, their parsed parts, and views of their structures, each created once and shared.

Contents: the file and its parts (`file`, `chunks`, `pages`, `schemas` for Parquet; `pm`; `tables`), the violation that a check reports, and
column chunks that are alike, with an example that represents all of them.

Excluded: verdicts and rule texts; numpy, pyarrow, xxhash. This room and the specification are all that the tiers ``footer``, ``index`` and
``pages`` need, so the same code can judge inside a browser. Code that needs more is passed in (`file.FileUnderTest.pm_screens`,
`chunks.ColumnChunkUnderTest.part`).

How one damage becomes one finding: parsed parts are cached, and so is the error of a failed parse. The error names the rule that the bytes
break. The check of that rule reports it; every other check that needs the same part raises the same error, and its rule is *not checked*.
"""
