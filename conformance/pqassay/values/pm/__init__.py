"""``_pm`` files in bulk: screens over arrays of their records, and their claims put to the values of ``data.parquet``.

Excluded: rules. The suspects of a screen are tested by the plain rule in `pqassay.checks.pm`.
"""
