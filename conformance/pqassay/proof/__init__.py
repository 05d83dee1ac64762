"""Proofs: the cost of a finding, shown by queries that engines answer wrongly.

Contents: queries that a finding may affect (`candidates`, `queries`), the true answers from the pages
(`true_values`), the engines and their processes (`engines`, `worker`), and the comparison (`trial`).

Excluded: verdicts.  A proof is added to a finding and changes nothing about it.  Each engine runs in a
separate process with limits, since a damaged file may crash it. An engine that is also wrong about a healthy
copy of the file proves nothing.
"""
