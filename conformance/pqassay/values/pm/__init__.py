"""``_pm`` files in bulk: screens over arrays of their records, and their claims put to the values of ``data.parquet``.

What never comes in: a rule. What a screen suspects goes through the plain rule in `pqassay.checks.pm`.
"""
