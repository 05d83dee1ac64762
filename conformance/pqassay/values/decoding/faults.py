"""Faults of page bodies: what decoding finds instead of levels, values or entries.

Decoding does not know the rules. A rule declares its kinds of faults (`pqassay.checks.rule`) and reports them. It is also the reason why
values that they hide are not checked.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from functools import wraps
from typing import NamedTuple, ParamSpec, TypeVar

from pqassay_spec.base.errors import Malformed
from pqassay_spec.parquet.encoding.names import ENCODINGS

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class FaultKind(Enum):
    """The kinds of faults of a page.

    Attributes:
        rule: The rule about this kind, set by the rule's declaration.
    """

    WRONG_SIZE = "it does not decompress, or not to the size in its header"
    SEVERAL_MEMBERS = "it is compressed by GZIP in several members"
    OTHER_FRAMING = "it is compressed by LZ4 without the framing of Hadoop"
    WRONG_CRC = "its CRC does not match its body"
    BAD_LEVELS = "its levels cannot be decoded, differ in number from its values, or exceed the maximum"
    STRAY_LEVELS = (
        "it has levels that its column does not have, or its header counts such levels, and it does not"
    )
    LEVELS_RUN_ON = "runs follow its levels"
    STRAY_ENTRY = "an entry continues a list that does not exist"
    CUT_RUN = "its last packed run is cut off"
    EMPTY_RUN = "a run holds no value"
    WIDE_RUN = "a run repeats a value of more bits than values have"
    NO_BIT_WIDTH = "it has no values, and the bit width of its indexes is missing too"
    MISSING_VALUES = "its values are not all there, or cannot be decoded"
    VALUES_RUN_ON = "bytes follow its values"
    WIDER_VALUES = "its values are longer than the type_length of the schema"
    INDEX_BEYOND = "an index is not less than the number of entries"
    WIDE_DIFFERENCES = "its deltas take more bits than a value"
    BAD_BLOCKS = "its delta blocks have a size that the encoding does not allow"
    WRONG_TOTAL = "its delta header has the wrong number of values"
    SHORT_MINIBLOCK = "its last miniblock ends after the last value instead of being padded"
    LONG_STREAMS = "bytes follow its values in BYTE_STREAM_SPLIT, so the length of a stream is unknown"
    MISSING_ENTRIES = "its dictionary has fewer entries than its header says"
    WIDER_ENTRIES = "the entries of its dictionary are longer than the type_length of the schema"
    ENTRIES_RUN_ON = "bytes follow the entries of its dictionary"
    UNSORTED_ENTRY = "an entry of a dictionary that is marked sorted is less than the one before"
    IMPOSSIBLE_SIZE = "it has a negative size or count, or levels that are longer than itself"
    UNKNOWN_CODEC = "its codec does not exist"
    UNKNOWN_ENCODING = "the format does not define its encoding"
    UNKNOWN_LEVEL_ENCODING = "its levels have an encoding that is not for levels"
    BIT_PACKED_LEVELS = "its levels have the deprecated encoding, whose bits pyarrow reads in reverse order"
    UNSUITABLE_ENCODING = "its values have an encoding that is not for their type"
    UNSUITABLE_ENTRY_ENCODING = "its dictionary has an encoding that is not for dictionaries"

    def __init__(self, _: str) -> None:
        self.rule: str | None = None


HARMLESS = {
    FaultKind.SEVERAL_MEMBERS,
    FaultKind.OTHER_FRAMING,
    FaultKind.NO_BIT_WIDTH,
    FaultKind.LEVELS_RUN_ON,
    FaultKind.VALUES_RUN_ON,
    FaultKind.ENTRIES_RUN_ON,
    FaultKind.UNSORTED_ENTRY,
}
"""Faults that do not prevent readers from reading the values."""

MISREAD = {FaultKind.STRAY_LEVELS, FaultKind.WIDER_VALUES, FaultKind.WIDER_ENTRIES}
"""Faults that let readers decode other values, so that nothing is compared with them."""

OF_HEADERS = {
    FaultKind.IMPOSSIBLE_SIZE,
    FaultKind.UNKNOWN_CODEC,
    FaultKind.UNKNOWN_ENCODING,
    FaultKind.UNKNOWN_LEVEL_ENCODING,
    FaultKind.BIT_PACKED_LEVELS,
    FaultKind.UNSUITABLE_ENCODING,
    FaultKind.UNSUITABLE_ENTRY_ENCODING,
}
"""Faults that are visible in headers and the footer: the rules about these look there."""


class PageFault(NamedTuple):
    """A fault of a page; its rule defines the meaning of the numbers and words.

    Attributes:
        kind: The kind of fault.
        expected, actual: The expected and the actual bytes, bits or values; bits beyond 64 are 0.
        place: The number of the affected entry of the page, or the number of entries.
        words: Messages of codecs and decoders; if a decoder refuses bytes: the reason, the expected and the
            actual value.
    """

    kind: FaultKind
    expected: int = 0
    actual: int = 0
    place: int = 0
    words: tuple[str, ...] = ()


class Faulty(Malformed):
    """A page cannot be decoded further because of a fault."""

    def __init__(self, fault: PageFault) -> None:
        super().__init__(fault.kind.value, rule=fault.kind.rule)
        self.fault = fault


def wrong_encoding(encoding: int, kind: FaultKind) -> Faulty:
    """The error for a page with a wrong encoding: a fault of this kind, or an undefined encoding."""
    return Faulty(PageFault(kind if encoding in ENCODINGS else FaultKind.UNKNOWN_ENCODING))


def refused_as(kind: FaultKind) -> Callable[[Callable[Arguments, Result]], Callable[Arguments, Result]]:
    """A decorator that turns errors of a decoder into a fault of a kind; an error with a rule or a fault passes unchanged."""

    def decorated(decoder: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
        @wraps(decoder)
        def decode(*args: Arguments.args, **options: Arguments.kwargs) -> Result:
            try:
                return decoder(*args, **options)
            except Malformed as error:
                if error.rule is not None or isinstance(error, Faulty):
                    raise
                raise Faulty(PageFault(kind, words=(error.reason, error.expected, error.actual))) from None

        return decode

    return decorated
