"""Judging: answers compared with what manifests expect.

What lives here: a judgement for each kind of answer, what causes wrong ones have in common, and which rules for readers they break.

What never comes in: how an answer was had.
"""
