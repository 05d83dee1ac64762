"""What is stored about false facts, of files and of the metadata of tables: `recall` and `table_recall` measure it."""

from __future__ import annotations

from recall_answers import Kept

OF_FILES, OF_TABLES = Kept("recall"), Kept("table_recall")
"""What is stored of files, and of the metadata of tables."""
