"""Algorithms step by step, each step computed from golden files.

What lives here: what a stepper is made of (`steps`), a module for each, and the list of them (`steppers`).

What never comes in: what an implementation answered, and a page of a case or a rule.
"""
