"""The deletion vector of a data file: its bytes in a file of vectors or in the log, and the rows that it removes.

If its bytes break a rule, later rules are not tested: damaged bytes mean nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pqassay.tables.claims import DeletedRows
from pqassay.under_test.fields import Field
from pqassay.under_test.file import Broken, FileUnderTest, NotApplicable, NotChecked, Remembered
from pqassay_spec.base.errors import FormatError, Malformed, Unsupported
from pqassay_spec.table import deletion_vector as grammar
from pqassay_spec.table.delta import DESCRIPTOR_VECTOR
from pqassay_spec.table.layout import TableKind
from pqassay_tables.under_test.table import bytes_field, claim_field
from pqassay_tables.values.roaring import Bitmap, decode

MOST_BYTES = 1 << 28
"""The largest size of a vector in bytes; its bits are enough for two billion rows."""


class VectorRules(NamedTuple):
    """The ids of the rules about the bytes of a vector, in one format of tables."""

    lies_in_its_file: str
    length: str
    checksum: str
    bitmap: str


RULES: dict[TableKind, VectorRules] = {
    "delta": VectorRules("DLT-019", "DLT-030", "DLT-031", "DLT-032"),
    "iceberg": VectorRules("ICE-025", "ICE-035", "ICE-036", "ICE-037"),
}


class StoredVector(NamedTuple):
    """A vector in a file.

    Attributes:
        version: The first byte of the file.
        size: The length before the vector.
        vector: The bytes of the length in the log.
        checksum: The bytes after the vector.
    """

    version: int
    size: int
    vector: bytes
    checksum: int


class DeletionVector:
    """The deletion vector of a data file, available as ``file.part(DeletionVector)``."""

    def __init__(self, file: FileUnderTest) -> None:
        self.file = file

    @Remembered
    def claims(self) -> DeletedRows:
        """The claims of the table about it. Raises `NotApplicable` if there is none."""
        claims = self.file.claims
        if claims is None or claims.deleted is None:
            raise NotApplicable
        return claims.deleted

    @property
    def rules(self) -> VectorRules:
        """The ids of its rules."""
        return RULES["delta" if self.file.claims is None else self.file.claims.table]

    @property
    def name(self) -> str:
        """The file with the vector, for messages."""
        return self.claims.file or "the log"

    @Remembered
    def stored(self) -> StoredVector:
        """The vector in its file.

        Raises:
            NotApplicable: The vector is in the log.
            NotChecked: The vector cannot be read: its descriptor is invalid, its file is elsewhere, or bytes are missing.
        """
        claims = self.claims
        if claims.broken:
            raise Broken(claims.broken)
        if claims.inline is not None:
            raise NotApplicable
        table = self.file.table
        path = None if table is None else table.inside(claims.file)
        if table is None or path is None:
            raise NotChecked(f"{claims.file} is outside of the folder of the table", "file", judgeable=False)
        if claims.length > MOST_BYTES:
            raise NotChecked(f"a deletion vector of {claims.length:,} bytes is not read", "tool")
        start = claims.offset + grammar.SIZE_SIZE
        end = start + claims.length + grammar.CHECKSUM_SIZE
        try:
            with table.opened(path) as source:
                if source.size < end:
                    raise Broken(self.rules.lies_in_its_file)
                head = source.read(0, grammar.HEAD_SIZE)
                data = source.read(claims.offset, end - claims.offset)
        except FileNotFoundError:
            raise Broken(self.rules.lies_in_its_file) from None
        except OSError as error:
            reason = f"{claims.file} cannot be read: {error.strerror or error}"
            raise NotChecked(reason, "file", judgeable=False) from None
        behind = grammar.SIZE_SIZE + claims.length
        return StoredVector(
            grammar.FILE_HEAD.parse(head).version,
            int.from_bytes(data[: grammar.SIZE_SIZE], "big"),
            data[grammar.SIZE_SIZE : behind],
            int.from_bytes(data[behind:], "big"),
        )

    @Remembered
    def vector(self) -> bytes:
        """The bytes of the vector, checked to be undamaged. Raises `NotChecked` if they cannot be read."""
        claims = self.claims
        if claims.inline is not None:
            return claims.inline
        stored = self.stored
        if stored.size != claims.length:
            raise Broken(self.rules.length)
        if stored.checksum != grammar.checksum(stored.vector):
            raise Broken(self.rules.checksum)
        return stored.vector

    @Remembered
    def bitmap(self) -> Bitmap:
        """The positions of the rows that it removes.

        Raises:
            Malformed: The vector is not a bitmap, with the rule of its format; the offset is relative to the vector.
            NotChecked: See `vector`.
        """
        data = self.vector
        magic = int.from_bytes(data[: grammar.MAGIC_SIZE], "little")
        if len(data) < grammar.MAGIC_SIZE or magic != grammar.MAGIC:
            raise Malformed(
                f"it begins with {magic}",
                rule=self.rules.bitmap,
                field="magic",
                offset=0,
                length=grammar.MAGIC_SIZE,
                expected=str(grammar.MAGIC),
                actual=str(magic),
            )
        try:
            return decode(data[grammar.MAGIC_SIZE :])
        except Unsupported:
            raise
        except FormatError as error:
            error.rule = self.rules.bitmap
            error.offset = (error.offset or 0) + grammar.MAGIC_SIZE
            error.field = f"bitmap.{error.field}"
            raise

    def removed(self, group: int, rows: int) -> NDArray[np.bool_]:
        """A bool mask of the rows of a row group that it removes.

        Args:
            group: The row group.
            rows: The number of rows of the row group.

        Raises:
            NotChecked: The vector cannot be read, or the row counts of earlier row groups are unknown.
        """
        try:
            bitmap = self.bitmap
        except FormatError as error:
            raise NotChecked.because(error) from None
        before = [one.num_rows for one in self.file.metadata.row_groups[:group]]
        if any(number < 0 for number in before):
            raise Broken("PQF-015")
        return bitmap.mask(sum(before), rows)

    def field(self, path: str, offset: int, length: int) -> Field:
        """A field of the vector, or of the bytes around it in its file.

        Args:
            path: The field.
            offset: Its offset relative to the vector.
            length: Its size in bytes.
        """
        claims, table = self.claims, self.file.table
        inside = None if table is None or not claims.file else table.inside(claims.file)
        if inside is None:
            return claim_field(self.file, claims.place.below(DESCRIPTOR_VECTOR))
        start = claims.offset + grammar.SIZE_SIZE
        return bytes_field(self.file, inside, f"{inside}[{claims.offset}].{path}", start + offset, length)
