"""A file during its check: its bytes, and the parts parsed so far.

Checks share what they parse.  Failed parses are cached like successful ones, and the error names the broken
rule: its check reports the error, and other checks that need the same structure are *not checked*.  So one
damage is one finding.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar, cast

from pqassay.report.model import MISTAKE, Obstacle
from pqassay.stores.table_files import TableAt
from pqassay.tables.claims import FileClaims
from pqassay.under_test.alike import CHUNKS, Alike, alike_chunks
from pqassay.under_test.index_reads import IndexReads
from pqassay.under_test.layout import Layout, layout_of
from pqassay.under_test.schemas.known_schemas import SCHEMAS, Schema, schema_of
from pqassay_spec.base.errors import FormatError, Unsupported
from pqassay_spec.base.sources import Source
from pqassay_spec.grammar.thrift_decoder import WatchedBytes, collector_paused
from pqassay_spec.parquet import file as parquet_file
from pqassay_spec.parquet.schema.leaf_columns import SchemaLeaf
from pqassay_spec.parquet.thrift import ColumnChunk, FileMetaData, KeyValue
from pqassay_spec.pm import grammar as pm
from pqassay_spec.rules.catalogue import DEFAULT_FILE, TIERS, Tier

Part = TypeVar("Part")
Owner = TypeVar("Owner")
Value = TypeVar("Value")


class NotApplicable(Exception):  # noqa: N818 - an outcome, not an error
    """The structure that a rule is about is absent."""


class NotChecked(Exception):  # noqa: N818 - an outcome, not an error
    """A rule could not be tested; the message is the reason that the report gives.

    Attributes:
        obstacle: The kind of obstacle.
        judgeable: False if the whole file counts as unjudged, because its pages cannot be decoded.
        hides_column: False if the column is still checked, because only the payload of an index on it is unknown.
    """

    def __init__(
        self, reason: str, obstacle: Obstacle, *, judgeable: bool = True, hides_column: bool = True
    ) -> None:
        super().__init__(reason)
        self.obstacle: Obstacle = obstacle
        self.judgeable, self.hides_column = judgeable, hides_column

    @classmethod
    def because(cls, error: FormatError) -> NotChecked:
        """The `NotChecked` for unreadable bytes: a broken rule, a limit of pqassay, or a limit of the file."""
        if error.rule:
            return Broken(error.rule)
        return cls(error.reason, "tool" if isinstance(error, Unsupported) else "file")


class Broken(NotChecked):
    """Another rule is broken, and its own check reports that, so the tested thing cannot be judged."""

    def __init__(self, rule: str) -> None:
        super().__init__(f"{rule} is broken", "another rule")
        self.rule = rule


MOST_REASONS = 20
"""The number of different reasons of one obstacle that are kept; each may name a column."""


@dataclass
class Hindrance:
    """One obstacle that prevented the test of one or more rules.

    Attributes:
        reasons: The first different reasons.
        columns: The affected columns, if the obstacle concerns columns.
    """

    reasons: list[str]
    columns: set[str] = field(default_factory=set[str])

    @property
    def reason(self) -> str:
        """The first of the reasons."""
        return self.reasons[0]


class Hindrances(dict[Obstacle, Hindrance]):
    """All obstacles that prevented tests of one or more rules, by kind."""

    def note(self, problem: NotChecked, column: str | None = None) -> None:
        """Add the error that ended a test, for a column or for the whole file."""
        if isinstance(problem, NotEverywhere):
            self.merge(problem.hindrances)
            return
        columns = {column} if column is not None and problem.hides_column else set[str]()
        self._add(problem.obstacle, [str(problem)], columns)

    def merge(self, other: Hindrances) -> None:
        """Add the obstacles of another collection."""
        for obstacle, hindrance in other.items():
            self._add(obstacle, hindrance.reasons, hindrance.columns)

    def _add(self, obstacle: Obstacle, reasons: Iterable[str], columns: set[str]) -> None:
        hindrance = self.setdefault(obstacle, Hindrance([]))
        hindrance.columns.update(columns)
        for reason in reasons:
            if len(hindrance.reasons) < MOST_REASONS and reason not in hindrance.reasons:
                hindrance.reasons.append(reason)

    def raise_any(self) -> None:
        """Raise `NotEverywhere` if there is any."""
        for obstacle, hindrance in self.items():
            raise NotEverywhere(NotChecked(hindrance.reason, obstacle), self)


class NotEverywhere(NotChecked):
    """A rule could not be tested in some places, for one or more reasons; the first is the message."""

    def __init__(self, first: NotChecked, hindrances: Hindrances) -> None:
        super().__init__(str(first), first.obstacle, judgeable=first.judgeable)
        self.hindrances = hindrances


class Mistake(NotChecked):
    """A mistake in this program caused a failure: the file is not at fault, and other checks continue."""

    def __init__(self, error: Exception) -> None:
        text = " ".join(str(error).split())[:200]
        super().__init__(f"{MISTAKE}: {type(error).__name__}: {text}", "tool", judgeable=False)

    @classmethod
    def by(cls, error: Exception) -> Mistake:
        """The mistake that an unexpected exception shows."""
        return cls(error)


class Remembered(Generic[Owner, Value]):
    """A property that is computed once. Its exception is also cached; an unexpected exception is cached as `Mistake`."""

    def __init__(self, compute: Callable[[Owner], Value]) -> None:
        self._compute = compute
        self._name = compute.__name__
        self.__doc__ = compute.__doc__

    def __get__(self, owner: Owner, _: type[Owner]) -> Value:
        # Used some sixty times per file, so every call counts.
        known = owner.__dict__
        problem: Exception | None = known["_problems"].get(self._name) if "_problems" in known else None
        if problem is None:
            try:
                # From now on, the value is an attribute of the owner, so this method is no longer called.
                value = known[self._name] = self._compute(owner)
            except (FormatError, NotApplicable, NotChecked) as error:
                problem = known.setdefault("_problems", {})[self._name] = error
            except (OSError, MemoryError):
                raise
            except Exception as error:  # noqa: BLE001 - what does not need this value is still checked
                problem = known.setdefault("_problems", {})[self._name] = Mistake.by(error)
            else:
                return value
        raise problem.with_traceback(None)


@dataclass(frozen=True)
class Options:
    """The options of a check.

    Attributes:
        tier: The tier of the check.
        idx1_column: The column that an IDX1 index describes, as a path joined by dots.
        crc: Whether to read page bodies for their CRC, even if the tier would not.
        profile: The name of the profile whose verdicts are used.
    """

    tier: Tier
    idx1_column: str | None = None
    crc: bool = False
    profile: str | None = None

    def reaches(self, tier: Tier) -> bool:
        """Whether the requested tier includes a tier."""
        return TIERS.index(tier) <= TIERS.index(self.tier)

    @property
    def reads_bodies(self) -> bool:
        """Whether the bodies of pages are read, and not only their headers."""
        return self.reaches("values") or (self.crc and self.reaches("pages"))


DATA_PREFIX = "data."
"""The prefix of paths of fields of the Parquet file beside the judged file."""


def nothing_beside(_: str) -> Source | None:
    """The opener of files beside a file that has none."""
    return None


def no_screens() -> None:
    """The loader of ``_pm`` screens if there are none."""


def overlaps(
    ranges: Iterable[parquet_file.ByteRange],
) -> Iterator[tuple[parquet_file.ByteRange, parquet_file.ByteRange]]:
    """Yield each sorted range that begins before an earlier one ends, as a pair: first the earlier range that ends last."""
    widest: parquet_file.ByteRange | None = None
    for given in ranges:
        if widest is not None and given.start < widest.end:
            yield widest, given
        if widest is None or given.end > widest.end:
            widest = given


@dataclass
class FileUnderTest:
    """The parsed parts of one file, computed when first asked for.

    Attributes:
        source: Its bytes.
        options: The options of the check.
        kind: The kind of file.
        opener: Opens a file of the same folder by name; returns ``None`` if it does not exist. The caller that supplied it closes the files.
        pm_screens: Loads the screens for the many chunks of a large ``_pm``, see `pqassay.under_test.pm.chunks.Screens`;
            ``None`` if there are none, so that rules judge every chunk.
        left_out: The rules that are not tested; values that only these rules need are not decoded.
        prefix: The prefix of the paths of its fields, if it is not the judged file.
        table: The table that is judged, or that has the file.
        claims: The claims of that table about the file; ``None`` for a table itself.
    """

    source: Source
    options: Options
    kind: str = DEFAULT_FILE
    opener: Callable[[str], Source | None] = nothing_beside
    pm_screens: Callable[[], Any] = no_screens
    left_out: Container[str] = ()
    prefix: str = ""
    table: TableAt | None = None
    claims: FileClaims | None = None
    _parts: dict[Any, Any] = field(default_factory=dict[Any, Any])

    def forget(self) -> None:
        """Release all parts. The file and its parts refer to each other, and would otherwise stay until garbage collection."""
        vars(self).clear()

    def beside(self, name: str) -> Source | None:
        """The file of that name in the same folder, ``None`` if there is none.

        Raises:
            NotChecked: The file exists but cannot be opened; then the file under test is not fully judged.
        """
        try:
            return self.opener(name)
        except OSError as error:
            reason = f"{name} beside it cannot be opened: {error.strerror or error}"
            raise NotChecked(reason, "file", judgeable=False) from None

    @Remembered
    def data(self) -> FileUnderTest:
        """The Parquet file beside this one.

        Raises:
            NotChecked: The file does not exist, or cannot be opened.
        """
        source = self.beside(pm.DATA_NAME)
        if source is None:
            raise NotChecked(f"no {pm.DATA_NAME} is stored beside it", "request")
        return FileUnderTest(source, self.options, prefix=DATA_PREFIX)

    def part(self, make: Callable[[FileUnderTest], Part]) -> Part:
        """A family's own view of this file, created once."""
        if make not in self._parts:
            self._parts[make] = make(self)
        return cast("Part", self._parts[make])

    def head(self) -> None:
        """Raise `Malformed` (PQF-001) unless the file begins with the right magic."""
        parquet_file.read_head(self.source)

    @Remembered
    def framing(self) -> parquet_file.Framing:
        """The places of footer and tail. Raises PQF-001 (too short), PQF-002, PQF-003."""
        return parquet_file.read_framing(self.source)

    def asked_anew(self, options: Options, left_out: Container[str]) -> FileUnderTest:
        """The same file for other rules; the decoded parts of its footer are shared."""
        other = FileUnderTest(self.source, options, self.kind, left_out=left_out)
        known = vars(self)
        vars(other).update(
            (name, known[name]) for name in ("framing", "footer", "decoded", "layout") if name in known
        )
        return other

    def assume_framing(self, framing: parquet_file.Framing) -> None:
        """Set the places of footer and tail, even if `framing` would fail: dumps of damaged files need that."""
        vars(self)["framing"] = framing

    @Remembered
    def footer(self) -> WatchedBytes:
        """The bytes of the footer."""
        return WatchedBytes(self.source.read(self.framing.footer_start, self.framing.footer_length))

    @Remembered
    def decoded(self) -> tuple[FileMetaData, int]:
        """The decoded footer, and the number of bytes of its struct. Raises PQF-004. Its schema object may be shared with other files."""
        footer, framing = self.footer, self.framing
        with parquet_file.undoing(self.source):
            return parquet_file.decode_footer(footer, framing, readers=(SCHEMAS, CHUNKS))

    @property
    def has_unknown_fields(self) -> bool:
        """Whether a struct of the footer has an undeclared field, or a field with another type. Raises PQF-004."""
        _ = self.decoded
        return self.footer.has_unknown

    @property
    def metadata(self) -> FileMetaData:
        """The decoded footer."""
        return self.decoded[0]

    @Remembered
    def key_values(self) -> list[KeyValue]:
        """The footer's key-value metadata, in order."""
        return self.metadata.key_value_metadata or []

    @Remembered
    def is_summary(self) -> bool:
        """Whether the footer describes other files (``_metadata``, ``_common_metadata``)."""
        alike, name = self.alike, self.source.name.rpartition("/")[2]
        if alike is not None and not all(chunks.has("file_path") for chunks in alike.groups):
            return name in parquet_file.SUMMARY_NAMES
        return parquet_file.is_summary(self.metadata, self.source.name, self.framing)

    @property
    def own_chunks(self) -> Iterator[tuple[int, str, str, ColumnChunk]]:
        """Row group, field path, column name and chunk of every chunk that is stored in this file."""
        return parquet_file.chunks_of_this_file(self.metadata, self.framing)

    def is_elsewhere(self, chunk: ColumnChunk) -> bool:
        """Whether the pages of a chunk are in another file."""
        return bool(chunk.file_path) and parquet_file.is_elsewhere(chunk, self.framing)

    @Remembered
    def schema(self) -> Schema:
        """The schema, checked to be one tree. Raises PQF-004."""
        return schema_of(self.metadata)

    @property
    def leaves(self) -> list[SchemaLeaf]:
        """The leaf columns. Raises PQF-004."""
        return self.schema.leaves

    @Remembered
    def offsets(self) -> list[parquet_file.ByteRange]:
        """Every offset into this file in the footer; the offsets of a summary point into other files."""
        return [] if self.is_summary else list(parquet_file.referenced_offsets(self.metadata, self.framing))

    @property
    def has_offsets(self) -> bool:
        """Whether the footer has an offset into this file."""
        return bool(self.offsets) if self.layout is None else self.layout.count > 0

    @Remembered
    def layout(self) -> Layout | None:
        """The layout of a file whose ranges lie in the body and do not overlap; ``None`` if that is uncertain."""
        if self.is_summary:
            return None
        with collector_paused():
            return layout_of(self.metadata, self.framing, self.alike)

    @Remembered
    def alike(self) -> Alike | None:
        """The similar column chunks; ``None`` if there are none, or not exactly one chunk for each leaf."""
        try:
            metadata, schema = self.metadata, self.schema
            with collector_paused():
                return alike_chunks(metadata, schema)
        except FormatError:  # the schema is not a tree
            return None

    @Remembered
    def stray_offsets(self) -> frozenset[str]:
        """The fields of the offsets that point outside the body, which PQF-008 judges."""
        if self.layout is not None:
            return frozenset()
        return frozenset(given.field for given in self.offsets if not self.in_body(given))

    @Remembered
    def ranges(self) -> list[parquet_file.ByteRange]:
        """Every range in the footer, sorted; lengths of bloom filters are read from the file if the tier allows.

        A chunk with a page offset outside the body is omitted, since its place is unknown. A chunk with a negative size is also omitted;
        PQF-015 judges it.
        """
        if self.is_summary:
            return []
        source = self.part(IndexReads) if self.options.reaches("index") else None
        lost = {field.rpartition(".")[0] for field in self.stray_offsets}
        return sorted(
            given
            for given in parquet_file.referenced_ranges(self.metadata, source, self.framing)
            if given.kind != "column chunk"
            or (given.length >= 0 and given.field.rpartition(".")[0] not in lost)
        )

    @Remembered
    def overlapping(self) -> frozenset[str]:
        """The fields of the ranges inside the body that overlap another range. The contents of such ranges are unknown."""
        if self.layout is not None:
            return frozenset()
        return frozenset(given.field for both in overlaps(self.ranges_inside) for given in both)

    @Remembered
    def ranges_inside(self) -> list[parquet_file.ByteRange]:
        """The `ranges` that lie in the body."""
        return [given for given in self.ranges if self.in_body(given)]

    def in_body(self, given: parquet_file.ByteRange) -> bool:
        """Whether a range lies between head and footer; an empty range needs room for one byte."""
        start, end = self._body
        return start <= given.start <= given.start + (given.end - given.start or 1) <= end

    @Remembered
    def _body(self) -> tuple[int, int]:
        return self.framing.body_start, self.framing.footer_start

    def require_sound_ranges(self) -> None:
        """Raise the broken rule if ranges leave the body or overlap, since conclusions from them would be meaningless."""
        if self.layout is not None:
            return
        for group in self.metadata.row_groups:
            for chunk in group.columns:
                if chunk.meta_data is not None and chunk.meta_data.total_compressed_size < 0:
                    raise Broken("PQF-015")
        if self.stray_offsets or len(self.ranges_inside) < len(self.ranges):
            raise Broken("PQF-008")
        last = self.framing.body_start
        for given in self.ranges:
            if given.start < last:
                raise Broken("PQF-009")
            last = given.end
