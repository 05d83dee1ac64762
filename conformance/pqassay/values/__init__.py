"""Values: decoded pages and columns, and their comparison with all metadata about them.

Contents: code that uses numpy, pyarrow or xxhash on many values at once: the audit of all values, the bodies
and levels of pages, orders, hashes, and the bulk screens of ``_pm``.

Excluded: registration of rules, and loops over values in Python.  The rules in `pqassay.checks` are the law;
what is fast here is tested equal to the plain algorithms in `pqassay_spec`.  Checks import this package when
they run, so tiers without values do not need numpy or pyarrow.

How one pass serves many rules: each *family* of claims (statistics, page index and bloom filters; sorting columns; an embedded index;
``_pm``) returns its claims about a column chunk. The audit goes through the row groups, several column chunks at a time. It decodes each
chunk with claims once (only `decoding.physical.decode_chunk` decodes), and tests the claims of all families on the same values. The result
is recorded as an *outcome* for each rule, and the check of a rule returns its outcome. A family whose parts belong to a room of checks
registers there (`claims.audit.claiming`).
"""
