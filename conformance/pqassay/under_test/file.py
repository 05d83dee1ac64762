"""A file while it is judged: its bytes, and what was parsed of it so far.

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
        obstacle: The reason why it was not tested.
        judgeable: False where the reason leaves the whole file unjudged: its pages cannot be decoded.
        hides_column: False where the column is still checked: the payload of an index of it is not known.
    """

    def __init__(
        self, reason: str, obstacle: Obstacle, *, judgeable: bool = True, hides_column: bool = True
    ) -> None:
        super().__init__(reason)
        self.obstacle: Obstacle = obstacle
        self.judgeable, self.hides_column = judgeable, hides_column

    @classmethod
    def because(cls, error: FormatError) -> NotChecked:
        """The reason that bytes could not be read: a rule that they break, what pqassay does not read, or what they hold."""
        if error.rule:
            return Broken(error.rule)
        return cls(error.reason, "tool" if isinstance(error, Unsupported) else "file")


class Broken(NotChecked):
    """Another rule is broken, whose own check says so: what is asked about cannot be judged."""

    def __init__(self, rule: str) -> None:
        super().__init__(f"{rule} is broken", "another rule")
        self.rule = rule


MOST_REASONS = 20
"""Different reasons that are kept of one obstacle; each may name a column."""


@dataclass
class Hindrance:
    """One obstacle that kept a rule, or several, from being tested.

    Attributes:
        reasons: The different reasons, the first ones.
        columns: The columns where it did, as far as columns have a part in it.
    """

    reasons: list[str]
    columns: set[str] = field(default_factory=set[str])

    @property
    def reason(self) -> str:
        """The first of the reasons."""
        return self.reasons[0]


class Hindrances(dict[Obstacle, Hindrance]):
    """All that kept a rule, or several, from being tested, by obstacle."""

    def note(self, problem: NotChecked, column: str | None = None) -> None:
        """Add what a test ended with, about a column or the whole file."""
        if isinstance(problem, NotEverywhere):
            self.merge(problem.hindrances)
            return
        columns = {column} if column is not None and problem.hides_column else set[str]()
        self._add(problem.obstacle, [str(problem)], columns)

    def merge(self, other: Hindrances) -> None:
        """Take over what hindered elsewhere."""
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
    """A rule could not be tested in some places, for one reason or several; the first is the message."""

    def __init__(self, first: NotChecked, hindrances: Hindrances) -> None:
        super().__init__(str(first), first.obstacle, judgeable=first.judgeable)
        self.hindrances = hindrances


class Mistake(NotChecked):
    """Something failed by a mistake in this program: no fault of the file, and no reason to keep from other checks."""

    def __init__(self, error: Exception) -> None:
        text = " ".join(str(error).split())[:200]
        super().__init__(f"{MISTAKE}: {type(error).__name__}: {text}", "tool", judgeable=False)

    @classmethod
    def by(cls, error: Exception) -> Mistake:
        """The mistake that shows as an exception that should not have come up."""
        return cls(error)


class Remembered(Generic[Owner, Value]):
    """A property computed once, whose exception is remembered as well; one by mistake as `Mistake`."""

    def __init__(self, compute: Callable[[Owner], Value]) -> None:
        self._compute = compute
        self._name = compute.__name__
        self.__doc__ = compute.__doc__

    def __get__(self, owner: Owner, _: type[Owner]) -> Value:
        # Asked for some sixty times a file, so every call counts.
        known = owner.__dict__
        problem: Exception | None = known["_problems"].get(self._name) if "_problems" in known else None
        if problem is None:
            try:
                # Found under its name, the value is the owner's own attribute from now on.
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
        tier: How deep to look.
        idx1_column: Column that an IDX1 index describes, its path joined by dots.
        crc: Whether to read the bodies of pages for their CRC, where the tier alone would not.
        profile: Name of the profile whose verdicts count.
    """

    tier: Tier
    idx1_column: str | None = None
    crc: bool = False
    profile: str | None = None

    def reaches(self, tier: Tier) -> bool:
        """Whether a tier was asked for."""
        return TIERS.index(tier) <= TIERS.index(self.tier)

    @property
    def reads_bodies(self) -> bool:
        """Whether the bodies of pages are read, and not only their headers."""
        return self.reaches("values") or (self.crc and self.reaches("pages"))


DATA_PREFIX = "data."
"""Begins the paths of fields of the Parquet file beside the one under test."""


def nothing_beside(_: str) -> Source | None:
    """Opens the files beside one that is alone."""
    return None


def no_screens() -> None:
    """Loads the screens of ``_pm`` where there are none."""


def overlaps(
    ranges: Iterable[parquet_file.ByteRange],
) -> Iterator[tuple[parquet_file.ByteRange, parquet_file.ByteRange]]:
    """Yield each of some sorted ranges that begins before one ahead of it ends: first the one that ends last, then it."""
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
        options: How to check it.
        kind: The kind of file as which it is judged.
        opener: Opens a file of the same folder by its name; ``None`` where there is none. Its maker closes what it opened.
        pm_screens: Loads the screens for the many chunks of a large ``_pm``, see `pqassay.under_test.pm.chunks.Screens`;
            ``None`` if there are none; then only the rules judge every chunk.
        left_out: The rules that are not tested; values of which no other speaks are not decoded.
        prefix: Begins the paths of its fields where it is not the file that the report is about.
        table: The table that is judged, or to which the file belongs.
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
        """Let go of everything. The file and its parts know each other, and would stay until the collector comes."""
        vars(self).clear()

    def beside(self, name: str) -> Source | None:
        """The file of that name in the same folder, ``None`` if there is none.

        Raises:
            NotChecked: There is one, and it cannot be opened; the file under test is not fully judged then.
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
            NotChecked: There is none, or it cannot be opened.
        """
        source = self.beside(pm.DATA_NAME)
        if source is None:
            raise NotChecked(f"no {pm.DATA_NAME} is stored beside it", "request")
        return FileUnderTest(source, self.options, prefix=DATA_PREFIX)

    def part(self, make: Callable[[FileUnderTest], Part]) -> Part:
        """The family's own view of this file, made once."""
        if make not in self._parts:
            self._parts[make] = make(self)
        return cast("Part", self._parts[make])

    def head(self) -> None:
        """Raise `Malformed` (PQF-001) unless the file begins as it must."""
        parquet_file.read_head(self.source)

    @Remembered
    def framing(self) -> parquet_file.Framing:
        """The places of footer and tail. Raises PQF-001 (too short), PQF-002, PQF-003."""
        return parquet_file.read_framing(self.source)

    def asked_anew(self, options: Options, left_out: Container[str]) -> FileUnderTest:
        """The same file for other questions; what was decoded of its footer is shared."""
        other = FileUnderTest(self.source, options, self.kind, left_out=left_out)
        known = vars(self)
        vars(other).update(
            (name, known[name]) for name in ("framing", "footer", "decoded", "layout") if name in known
        )
        return other

    def assume_framing(self, framing: parquet_file.Framing) -> None:
        """Take footer and tail to be in these places, though `framing` may say otherwise: what shows damaged files needs that."""
        vars(self)["framing"] = framing

    @Remembered
    def footer(self) -> WatchedBytes:
        """The bytes of the footer."""
        return WatchedBytes(self.source.read(self.framing.footer_start, self.framing.footer_length))

    @Remembered
    def decoded(self) -> tuple[FileMetaData, int]:
        """The decoded footer and the bytes that its struct takes. Raises PQF-004. Its schema may be that of other files, too."""
        footer, framing = self.footer, self.framing
        with parquet_file.undoing(self.source):
            return parquet_file.decode_footer(footer, framing, readers=(SCHEMAS, CHUNKS))

    @property
    def has_unknown_fields(self) -> bool:
        """Whether a struct of the footer holds a field that is not declared, or with another type. Raises PQF-004."""
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
        """The schema, which is one tree. Raises PQF-004."""
        return schema_of(self.metadata)

    @property
    def leaves(self) -> list[SchemaLeaf]:
        """The leaf columns. Raises PQF-004."""
        return self.schema.leaves

    @Remembered
    def offsets(self) -> list[parquet_file.ByteRange]:
        """Every offset into this file that the footer holds; those of a summary lead into other files."""
        return [] if self.is_summary else list(parquet_file.referenced_offsets(self.metadata, self.framing))

    @property
    def has_offsets(self) -> bool:
        """Whether the footer holds an offset into this file."""
        return bool(self.offsets) if self.layout is None else self.layout.count > 0

    @Remembered
    def layout(self) -> Layout | None:
        """The layout of a file whose ranges lie in the body and share no byte; ``None`` where that is not certain."""
        if self.is_summary:
            return None
        with collector_paused():
            return layout_of(self.metadata, self.framing, self.alike)

    @Remembered
    def alike(self) -> Alike | None:
        """The column chunks that are encoded alike; ``None`` where there are none, or not one chunk for each leaf."""
        try:
            metadata, schema = self.metadata, self.schema
            with collector_paused():
                return alike_chunks(metadata, schema)
        except FormatError:  # the schema is not a tree
            return None

    @Remembered
    def stray_offsets(self) -> frozenset[str]:
        """The fields of those offsets that lead out of the body, which PQF-008 judges."""
        if self.layout is not None:
            return frozenset()
        return frozenset(given.field for given in self.offsets if not self.in_body(given))

    @Remembered
    def ranges(self) -> list[parquet_file.ByteRange]:
        """Every range that the footer gives away, sorted; bloom lengths read from the file where the tier allows.

        A chunk one of whose page offsets points outside the body is left out: its place is not known.  So is one
        whose size is negative, which PQF-015 judges.
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
        """The fields of those ranges inside the body that share a byte with another one. It is not known what is there."""
        if self.layout is not None:
            return frozenset()
        return frozenset(given.field for both in overlaps(self.ranges_inside) for given in both)

    @Remembered
    def ranges_inside(self) -> list[parquet_file.ByteRange]:
        """Those of the `ranges` that lie in the body."""
        return [given for given in self.ranges if self.in_body(given)]

    def in_body(self, given: parquet_file.ByteRange) -> bool:
        """Whether a range lies between head and footer; an empty one needs room for a byte."""
        start, end = self._body
        return start <= given.start <= given.start + (given.end - given.start or 1) <= end

    @Remembered
    def _body(self) -> tuple[int, int]:
        return self.framing.body_start, self.framing.footer_start

    def require_sound_ranges(self) -> None:
        """Raise the rule that is broken where ranges leave the body or overlap: what follows from them means nothing then."""
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
