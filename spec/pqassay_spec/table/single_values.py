"""Sizes of values in Iceberg's single-value serialization: bounds of columns and of partition fields.

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
"""Bytes of a value of each type, including those of types that may be promoted to it."""

NANOSECONDS = {"time": 1000, "timestamp": 1000, "timestamptz": 1000, "timestamp_ns": 1, "timestamptz_ns": 1}
"""Nanoseconds in the unit of each type of timestamps and times."""

POINT_WIDTHS = (16, 24, 32)
"""Bytes of a point of two, three or four coordinates."""

MOST_DECIMAL = 16
"""Bytes of the widest decimal: 38 digits."""
