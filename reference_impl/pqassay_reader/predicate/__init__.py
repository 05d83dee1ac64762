"""Predicates: parsed from text, compared exactly, and translated to the expressions of each engine. Literals are the reference's."""
