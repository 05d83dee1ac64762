"""Golden cases: the content of a ``case.json``, and how rows and values are written in JSON.

Contents: the declaration of a manifest as plain classes. Generators write it with `case.to_json`; the judge reads it,
and derives the JSON Schema from the same classes.
Excluded: a library that validates, and the cases themselves.
"""
