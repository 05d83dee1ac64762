"""Predicates: parsed from text or JSON, and translated to the expressions of each engine."""
