"""Judging: compare answers with the expectations of manifests.

Contents: a judgement for each kind of answer, common causes of wrong answers, and the rules for readers that
they break.

Excluded: getting answers.
"""
