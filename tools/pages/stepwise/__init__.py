"""Algorithms step by step, each step computed from golden files.

Contents: parts of steppers (`steps`), a module for each stepper, and their list (`steppers`).

Excluded: answers of implementations, and pages of cases or rules.
"""
