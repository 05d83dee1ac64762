"""An index directory in one key of the footer: the Base64 text, decoded and parsed."""

from __future__ import annotations

from pqassay.under_test.fields import Field, in_footer
from pqassay.under_test.file import FileUnderTest, NotChecked, Remembered
from pqassay.under_test.violation import Spot
from pqassay_spec.base.errors import Malformed, Unsupported
from pqassay_spec.directory import entries as grammar
from pqassay_spec.directory.entries import Directory
from pqassay_spec.parquet.thrift import KeyValue

TEXT_BYTES, TEXT_CHARACTERS = 3, 4
"""The number of bytes and of characters in a group of Base64."""


class DirectoryUnderTest:
    """One directory: the value of one key.

    Attributes:
        file: The file.
        index: The position of the key among all keys of the footer.
        pair: The key and its value.
        root: The prefix of the paths of its fields.
    """

    def __init__(self, file: FileUnderTest, index: int, pair: KeyValue, root: str) -> None:
        self.file, self.index, self.pair, self.root = file, index, pair, root

    @property
    def field(self) -> Field:
        """The field of the key's value; the field of the pair, if it has no value."""
        pair = in_footer(self.file, f"key_value_metadata[{self.index}]")
        return pair if self.pair.value is None else pair / "value"

    @Remembered
    def data(self) -> bytes:
        """The decoded bytes. Raises DIR-001, DIR-002."""
        if self.pair.value is None:
            raise Malformed(f"the key {grammar.KEY} has no value", rule="DIR-001", field=str(self.field))
        try:
            return grammar.decode_text(self.pair.value)
        except Malformed as error:
            raise error.within(field=str(self.field)) from None

    @Remembered
    def directory(self) -> Directory:
        """The directory.

        Raises:
            Malformed: DIR-001 to DIR-006.
            NotChecked: Its major version is unknown.
        """
        try:
            return grammar.read_directory(self.data)
        except Unsupported as error:
            raise NotChecked(error.reason, "tool") from None
        except Malformed as error:
            if error.rule in ("DIR-001", "DIR-002") or error.offset is None:
                raise
            spot = self.spot(error.field or self.root, error.offset, error.length)
            error.field, error.offset, error.length = spot
            raise

    def spot(self, path: str, offset: int, length: int) -> Spot:
        """The characters of the key's value that encode some of the decoded bytes."""
        start = self._text_start
        first = offset // TEXT_BYTES * TEXT_CHARACTERS
        last = -(-(offset + length) // TEXT_BYTES) * TEXT_CHARACTERS
        named = self.root + path.removeprefix("directory")
        return Spot(named, -1 if start is None else start + first, last - first)

    @Remembered
    def _text_start(self) -> int | None:
        """The offset of the key's value in the file; ``None`` if it is not found."""
        place, size = self.field.place()
        return None if place < 0 else place + size - len((self.pair.value or "").encode())
