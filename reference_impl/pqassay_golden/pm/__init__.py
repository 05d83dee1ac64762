"""Golden cases of ``_pm``: whole files, files with one mutation, and pairs of a ``_pm`` and the Parquet file beside it."""
