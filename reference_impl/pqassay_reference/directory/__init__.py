"""The index directory at work: indexes made from the data of a file, and written into it.

What lives here: indexes made from the data of a file (`making`), the file that gets them or loses them (`embedding`), and what is read from a
file that has some (`reading`).

What never comes in: the bytes of a footer, which `pqassay_reference.rewrite` changes, and commands.
"""
