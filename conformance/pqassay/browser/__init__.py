"""The judge in a browser: files in, JSON out.

Contents: a session with the dropped files (`session`), the bench, which changes one field of a file and
judges it again (`bench`), and the tree of its fields (`tree`).  The page ``check/`` of the site runs it in a
worker, with Python compiled to WebAssembly.

Excluded: a rule, a parser or a verdict; and imports of numpy, pyarrow, pydantic or rich, which are not
available there.
"""
