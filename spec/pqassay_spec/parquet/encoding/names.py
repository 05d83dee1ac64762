"""Encodings of values: the physical types that each encoding supports, and the encodings of dictionary entries.

    >>> encodes(Encoding.DELTA_BINARY_PACKED, Type.INT64), encodes(Encoding.DELTA_BINARY_PACKED, Type.BYTE_ARRAY)
    (True, False)
    >>> encodes(77, Type.INT64)
    False

BIT_PACKED is not listed: it only encodes levels, and is deprecated.

Source: apache/parquet-format, ``Encodings.md``, section "Supported Encodings"; ``parquet.thrift``, ``Encoding``.
"""

from __future__ import annotations

from collections.abc import Mapping

from pqassay_spec.parquet.thrift import DICTIONARY_ENCODINGS, CompressionCodec, Encoding, Type

CODECS = frozenset(map(int, CompressionCodec))
"""The codecs that exist."""

ENCODINGS = frozenset(map(int, Encoding))
"""The encodings that exist, for values and for levels."""

_ALL = frozenset(Type)

TYPES: Mapping[int, frozenset[Type]] = {
    Encoding.PLAIN: _ALL,
    **dict.fromkeys(DICTIONARY_ENCODINGS, _ALL),
    Encoding.RLE: frozenset({Type.BOOLEAN}),
    Encoding.DELTA_BINARY_PACKED: frozenset({Type.INT32, Type.INT64}),
    Encoding.DELTA_LENGTH_BYTE_ARRAY: frozenset({Type.BYTE_ARRAY}),
    Encoding.DELTA_BYTE_ARRAY: frozenset({Type.BYTE_ARRAY, Type.FIXED_LEN_BYTE_ARRAY}),
    Encoding.BYTE_STREAM_SPLIT: frozenset(
        {Type.INT32, Type.INT64, Type.FLOAT, Type.DOUBLE, Type.FIXED_LEN_BYTE_ARRAY}
    ),
    Encoding.ALP: frozenset({Type.FLOAT, Type.DOUBLE}),
}
"""The physical types that each encoding supports."""

ENTRY_ENCODINGS = (Encoding.PLAIN, Encoding.PLAIN_DICTIONARY)
"""Encodings of a dictionary page, whose entries are PLAIN; the second is an older name."""


def encodes(encoding: int, kind: int | None) -> bool:
    """Whether an encoding supports values of a physical type."""
    return kind in TYPES.get(encoding, ())


def for_type(kind: int | None) -> str:
    """The encodings that support a physical type, as text for messages."""
    return ", ".join(Encoding(encoding).name for encoding, kinds in TYPES.items() if kind in kinds)
