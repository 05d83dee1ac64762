"""Judging: answers compared with what manifests expect.

Contents: a judgement for each kind of answer, what causes wrong ones have in common, and which rules for readers they break.

Excluded: how an answer was had.
"""
