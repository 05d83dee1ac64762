"""How many bytes values have that Iceberg serializes each by itself: bounds of columns and of partition fields.

Source: the Iceberg specification, "Appendix D: Single-value serialization" and "Schema Evolution".
"""

from __future__ import annotations

WIDTHS: dict[str, tuple[int, ...]] = {
    "boolean": (1,),
    "int": (4,),
    "long": (8, 4),
    "float": (4,),
    "double": (8, 4),
    "date": (4,),
    "time": (8,),
    "timestamp": (8, 4),
    "timestamptz": (8,),
    "timestamp_ns": (8, 4),
    "timestamptz_ns": (8,),
    "uuid": (16,),
}
"""Bytes of a value of each type, those of a type from which it may be promoted included."""

NANOSECONDS = {"time": 1000, "timestamp": 1000, "timestamptz": 1000, "timestamp_ns": 1, "timestamptz_ns": 1}
"""Nanoseconds of the unit of each type of moments and times of day."""

POINT_WIDTHS = (16, 24, 32)
"""Bytes of a point of two, three or four coordinates."""

MOST_DECIMAL = 16
"""Bytes of the widest decimal: 38 digits."""
