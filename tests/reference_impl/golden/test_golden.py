"""The golden generator: the same bytes every time, and nobody else's files touched."""

from __future__ import annotations
