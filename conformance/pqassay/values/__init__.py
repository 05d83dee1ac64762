"""Values: pages and columns decoded, and everything that metadata says of them compared with what they hold.

What lives here: whatever needs numpy, pyarrow or xxhash to look at many values at once: the audit of all values, the bodies
and levels of pages, orders, hashes, and the bulk screens of ``_pm``.

What never comes in: a rule's registration, and a loop over values in Python.  The rules in `pqassay.checks` are the law; what is fast
here is tested equal to the plain algorithms in `pqassay_spec`.  Checks import this room where they run, so that the
tiers without values need neither numpy nor pyarrow.

How one pass serves many rules: the audit goes through the row groups, several column chunks at a time.  For each chunk it
gathers *claims* (a bound, a count, a histogram, the bits of a bloom filter), decodes the values once, puts every claim to
them, and notes an *outcome* for each rule.  The check of a rule asks for its outcome.
"""
