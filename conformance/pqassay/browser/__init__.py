"""The judge as a page in a browser uses it: files in, JSON out.

What lives here: a session with the files that somebody dropped (`session`), the bench on which one field of a file is changed and the
file judged again (`bench`), and the tree of its fields (`tree`).  The page ``check/`` of the site runs it in a worker, with Python compiled to WebAssembly.

What never comes in: a rule, a parser or a verdict; and nothing that imports numpy, pyarrow, pydantic or rich, which are not there.
"""
