"""Cases: golden files with their manifests, the questions about them, and the expected failures of implementations.

Contents: the case and its manifest, facts about its file, the queries that follow from them, cases for
writers, and packs of golden files for use without pqassay.

Excluded: answers.
"""
