"""Values: pages and columns decoded, and compared with everything that metadata says about them.

What lives here: whatever needs numpy, pyarrow or xxhash to look at many values at once: the audit of all values, the bodies
and levels of pages, orders, hashes, and the bulk screens of ``_pm``.

What never comes in: a rule's registration, and a loop over values in Python.  The rules in `pqassay.checks` are the law; what is fast
here is tested equal to the plain algorithms in `pqassay_spec`.  Checks import this room where they run, so that the
tiers without values need neither numpy nor pyarrow.

How one pass serves many rules: each *family* of claims (statistics, page index and bloom filters; sorting columns; an
embedded index; ``_pm``) says what it claims of a column chunk.  The audit goes through the row groups, several column
chunks at a time, decodes each chunk of which anything is claimed once (`decoding.physical.decode_chunk`, which alone decodes), and
puts the claims of all families to the same values.  What came of them is noted as an *outcome* for each rule, and the check of a
rule asks for its outcome.  A family whose parts belong to a room of checks registers there (`claims.audit.claiming`).
"""
