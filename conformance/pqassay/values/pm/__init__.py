"""``_pm`` files in bulk: screens over arrays of their records, and comparison of their claims with the values of ``data.parquet``.

Excluded: rules. The suspects of a screen are tested by the plain rule in `pqassay.checks.pm`.
"""
