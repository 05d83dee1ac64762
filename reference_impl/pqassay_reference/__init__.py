"""The reference implementation: the smallest honest reader and writer of what the specification describes.

It exists to be read next to the chapters, to produce golden files, and to give implementers something to
compare with.  It never imports the judge, nor the judge it: a judge that used the reference would make the
reference's mistakes the law.
"""
