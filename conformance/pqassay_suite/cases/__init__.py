"""Cases: golden files with their manifests, what is asked about them, and what an implementation is expected to get wrong.

Contents: the case and its manifest, facts about its file, the queries that follow from them, cases for
writers, and packs of golden files for use without pqassay.

Excluded: answers.
"""
