"""Algorithms step by step, each step computed from golden files.

Contents: what a stepper is made of (`steps`), a module for each, and the list of them (`steppers`).

Excluded: what an implementation answered, and a page of a case or a rule.
"""
