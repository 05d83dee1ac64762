"""A Delta table at a version: its columns, and the log entries of its live files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any, cast
from urllib.parse import unquote

from pqassay.tables.claims import ClaimPlace
from pqassay.tables.files import TableFiles
from pqassay_spec.base.errors import FormatError, Malformed, Unsupported
from pqassay_spec.table.delta import (
    COLUMN_MAPPING,
    DRAFT_READER_FEATURES,
    HIGH_WATER_MARK,
    KNOWN_READER_FEATURES,
    ROW_TRACKING_DOMAIN,
    STATS_PARSED,
    TYPE_WIDENING,
)
from pqassay_spec.table.layout import DELTA_LOG, commit_name, delta_checkpoint, delta_commit, delta_compaction
from pqassay_tables.metadata.column_types import TableSchema
from pqassay_tables.metadata.delta.actions import Json, actions, bad_line, object_of, parse
from pqassay_tables.metadata.delta.fields import table_schema
from pqassay_tables.metadata.delta.schema import DeltaSchema, schema_of
from pqassay_tables.metadata.delta.segment import Segment, complete_checkpoints, segment_of

DESCRIBED, REPEATED = "DLT-004", "DLT-006"

COLUMN_MAPPING_READER = 2
"""The reader version of the protocol that introduced column mapping; later versions list features."""

FEATURES_READER = 3

ONCE = {"protocol": "", "metaData": "", "txn": "appId", "domainMetadata": "domain", "remove": "path", "add": "path"}  # fmt: skip
"""Actions of which a commit has one, and the member whose values may have one each."""

_Seen = dict[tuple[str, ...], ClaimPlace]
_Live = Mapping[tuple[str, str], "AddEntry"]


@dataclass(slots=True, eq=False)
class AddEntry:
    """The entry of a live file.

    Attributes:
        file: The log file with the entry, relative to the table.
        number: Its line or row in that file.
        action: The ``add`` action.
        path: The decoded path of the data file in the log; empty if absent.
        inside: The data file relative to the table; ``None`` if it is outside.
        stats: Its statistics; ``None`` if absent or not a JSON object.
        stats_problem: Why the statistics are not a JSON object.
        stats_member: The member of the action with the statistics.
    """

    file: str
    number: int
    action: Json
    path: str
    inside: str | None
    stats: Json | None = None
    stats_problem: str = ""
    stats_member: str = "stats"

    @property
    def place(self) -> ClaimPlace:
        """The place of the entry."""
        return ClaimPlace(self.file, self.number, ("add",))

    @property
    def statistics(self) -> ClaimPlace:
        """The place of its statistics."""
        return ClaimPlace(self.file, self.number, ("add", self.stats_member))

    def stat(self, name: str) -> ClaimPlace:
        """The place of a member of its statistics."""
        return self.statistics.below(name)


@dataclass(frozen=True)
class Repetition:
    """An action that repeats one of the same commit or checkpoint."""

    kind: str
    path: str
    place: ClaimPlace
    before: ClaimPlace


@dataclass
class CheckpointRead:
    """The checkpoint from which the log is read.

    Attributes:
        files: Its files, relative to the table, including sidecars.
        actions: Its actions, including those in sidecars.
        adds: The actions that add a file.
    """

    files: frozenset[str] = frozenset()
    actions: int = 0
    adds: int = 0


@dataclass(kw_only=True)
class LogFacts:
    """The facts of a log beside the table's columns and files.

    Attributes:
        repetitions: Actions on files that occur twice in a commit or a checkpoint.
        doubles: Other actions that occur twice in a commit or a checkpoint.
        domains: Configurations of domains, by name.
        engine: The writer that the newest commit names; empty if none.
        sizes: The log files that were read, relative to the table, with their sizes.
        places: The places of the newest ``protocol`` and ``metaData`` actions.
        checkpoint: The checkpoint from which it is read; without files if there is none.
    """

    repetitions: list[Repetition] = field(default_factory=list[Repetition])
    doubles: list[Repetition] = field(default_factory=list[Repetition])
    domains: dict[str, str] = field(default_factory=dict[str, str])
    engine: str = ""
    sizes: dict[str, int] = field(default_factory=dict[str, int])
    places: dict[str, ClaimPlace] = field(default_factory=dict[str, ClaimPlace])
    checkpoint: CheckpointRead = field(default_factory=CheckpointRead)


@dataclass(kw_only=True)
class DeltaState(LogFacts):
    """The state of a table at a version, according to the log.

    Attributes:
        segment: The files that were read.
        protocol, metadata: The newest actions of these kinds.
        schema: The columns.
        entries: The live files, in the order of the log.
        features: Features that readers must know.
        writer_features: Features that writers must know.
    """

    segment: Segment
    protocol: Json
    metadata: Json
    schema: DeltaSchema
    entries: list[AddEntry]
    features: frozenset[str]
    writer_features: frozenset[str]

    @cached_property
    def fields(self) -> TableSchema:
        """The columns that readers look for in data files."""
        return table_schema(
            self.metadata, self.schema, may_be_wider=not self.features.isdisjoint(TYPE_WIDENING)
        )

    @cached_property
    def by_key(self) -> dict[tuple[str, str], AddEntry]:
        """The live files by `logical_key`."""
        return {logical_key(entry): entry for entry in self.entries}

    @cached_property
    def greatest_row_id(self) -> int | None:
        """The high water mark of row ids; ``None`` if the log does not have it."""
        try:
            given: Any = parse(self.domains.get(ROW_TRACKING_DOMAIN, ""))
        except ValueError:
            return None
        mark: Any = object_of(given).get(HIGH_WATER_MARK)
        return mark if type(mark) is int else None

    @property
    def unreadable(self) -> list[str]:
        """Reader features that are unknown here."""
        return sorted(self.features - {*KNOWN_READER_FEATURES, *DRAFT_READER_FEATURES})

    @property
    def drafts(self) -> dict[str, str]:
        """Reader features that are drafts, each with its proposal."""
        return {name: at for name, at in DRAFT_READER_FEATURES.items() if name in self.features}


def states_of_checkpoint(files: TableFiles, segment: Segment) -> tuple[DeltaState, DeltaState] | None:
    """The state at the version of a checkpoint, read from the checkpoint alone, and from the earlier log or another checkpoint.

    ``None`` if neither the earlier log nor another checkpoint exists. Raises the errors of `read_state`.
    """
    if not segment.checkpoint:
        return None
    names = files.listed(DELTA_LOG)
    version = segment.version - len(segment.commits)
    older = {
        name: size
        for name, size in names.items()
        if (told := delta_checkpoint(name)) is None or told.version < version
    }
    try:
        before = segment_of(older, version)
    except (FormatError, ValueError):
        others = complete_checkpoints({name: 0 for name in names if name not in segment.checkpoint})
        if version not in others:
            return None
        before = Segment(version, others[version], ())  # readers may choose it
    return _replayed(files, Segment(version, segment.checkpoint, ())), _replayed(files, before)


def states_of_compactions(
    files: TableFiles, segment: Segment
) -> Iterator[tuple[str, DeltaState, DeltaState]]:
    """A name of each log compaction that readers may use, and the states with it and with the commits that it replaces.

    Raises the errors of `read_state`.
    """
    for name in files.listed(DELTA_LOG):
        versions = delta_compaction(name)
        if versions and not set(versions) - set(segment.commits):
            until = tuple(number for number in segment.commits if number < versions.stop)
            before = Segment(versions[-1], segment.checkpoint, until)
            replaced = dict.fromkeys(versions, name)
            said = f"log compaction of the versions {versions.start} to {before.version}"
            yield said, _replayed(files, before, replaced), _replayed(files, before)


def read_state(files: TableFiles, version: int | None = None) -> DeltaState:
    """Read a version of a table, the newest by default.

    Raises:
        FormatError: The log cannot be read; rules DLT-001 to DLT-005.
        NoVersionError: There is no such version.
        OSError: A file cannot be read.
    """
    return _replayed(files, segment_of(files.listed(DELTA_LOG), version))


def _replayed(
    files: TableFiles, segment: Segment, replaced: Mapping[int, str] = MappingProxyType({})
) -> DeltaState:
    """The state of a segment, in which other files may replace commits."""
    replay = _Replay(files)
    if segment.checkpoint:
        replay.checkpoint(segment.checkpoint)
    for name in dict.fromkeys(replaced.get(number, commit_name(number)) for number in segment.commits):
        replay.commit(f"{DELTA_LOG}/{name}")
    return replay.state(segment)


class _Replay:
    """The log, read action by action."""

    def __init__(self, files: TableFiles) -> None:
        self._files = files
        self._live: dict[tuple[str, str], AddEntry] = {}
        self._described: dict[str, Json] = {}
        self._facts = LogFacts()

    def checkpoint(self, names: Sequence[str]) -> None:
        """Start with the actions of a checkpoint."""
        from pqassay_tables.metadata.delta.checkpoint import checkpoint_actions  # noqa: PLC0415 - pyarrow, where there is one

        held = adds = 0
        seen = _Seen()
        for file, number, action in checkpoint_actions(self._files, names, self._facts.sizes):
            held += 1
            adds += "add" in action
            self._note(file, number, action, seen, self._live)
            self._take(file, number, action)
        self._facts.checkpoint = CheckpointRead(frozenset(self._facts.sizes), held, adds)

    def commit(self, file: str) -> None:
        """Apply the actions of a commit."""
        try:
            data = self._files.read(file)
        except FileNotFoundError:
            raise Malformed("the log lists a commit that is not there", rule="DLT-002", field=file) from None
        self._facts.sizes[file] = len(data)
        seen = _Seen()
        later: dict[str, list[tuple[int, Json]]] = {"remove": [], "add": []}
        self._facts.engine = ""
        for number, action in actions(file, data):
            if sum(action.get(kind) is not None for kind in self._TAKING) > 1:
                raise bad_line(file, data, number, f"line {number + 1} of {file} has more than one action")
            if "add" in action or "remove" in action:
                later["add" if "add" in action else "remove"].append((number, action))
                continue
            self._note(file, number, action, seen)
            self._take(file, number, action)
        # Actions of one commit are unordered: they remove only files that existed before.
        for taken in later.values():
            for number, action in taken:
                self._note(file, number, action, seen)
                self._take(file, number, action)

    def _note(self, file: str, number: int, action: Json, seen: _Seen, live: _Live | None = None) -> None:
        """Note actions of which a commit has one already, or a checkpoint with these live files."""
        for kind, member in ONCE.items():
            given: Any = action.get(kind)
            if not isinstance(given, dict):
                continue
            place, name = ClaimPlace(file, number, (kind,)), unquote(str(object_of(given).get(member)))
            key, facts, before = (kind, "", name), self._facts.doubles, seen.get((kind, "", name))
            if member == "path":
                logical, facts = _key(object_of(given), name), self._facts.repetitions
                entry = (live or {}).get(logical)
                before = before or (entry.place if entry else seen.get(logical))
                if kind == "remove":
                    seen[logical] = place
            if before is not None:
                facts.append(Repetition(kind, name if member else "", place, before))
            elif member != "path" or live is None:
                seen[key] = place

    def _take(self, file: str, number: int, action: Json) -> None:
        for kind, take in self._TAKING.items():
            action_body: Any = action.get(kind)
            if action_body is None:
                continue
            if not isinstance(action_body, dict):
                raise Malformed(
                    f"{kind} in {file} is not an object",
                    rule="DLT-001",
                    field=f"{file}[{number}].{kind}",
                    expected="an object",
                    actual=repr(action_body)[:80],
                    file=file,
                )
            take(self, ClaimPlace(file, number, (kind,)), cast("Json", action_body))

    def _add(self, place: ClaimPlace, add: Json) -> None:
        entry = added(place.file, place.entry, add)
        entry.inside = self._files.inside(entry.path) if entry.path else None
        self._live[_key(add, entry.path)] = entry

    def _remove(self, _: ClaimPlace, remove: Json) -> None:
        raw = remove.get("path")
        if isinstance(raw, str):
            self._live.pop(_key(remove, unquote(raw)), None)

    def _describe(self, place: ClaimPlace, given: Json) -> None:
        (kind,) = place.path
        self._described[kind], self._facts.places[kind] = given, place

    def _set_domain(self, _: ClaimPlace, given: Json) -> None:
        name = given.get("domain")
        if isinstance(name, str):
            configuration = given.get("configuration")
            self._facts.domains[name] = configuration if isinstance(configuration, str) else ""
            if given.get("removed") is True:
                del self._facts.domains[name]

    def _note_engine(self, _: ClaimPlace, given: Json) -> None:
        engine = given.get("engineInfo") or given.get("clientVersion")
        self._facts.engine = engine if isinstance(engine, str) else ""

    _TAKING = {  # noqa: RUF012 - what each kind of action does
        "add": _add,
        "remove": _remove,
        "protocol": _describe,
        "metaData": _describe,
        "domainMetadata": _set_domain,
        "commitInfo": _note_engine,
    }

    def state(self, segment: Segment) -> DeltaState:
        """The resulting state."""
        for kind in ("protocol", "metaData"):
            if kind not in self._described:
                raise Malformed(
                    f"no {kind} action in the log up to version {segment.version}",
                    rule=DESCRIBED,
                    field=DELTA_LOG,
                    expected=f"a {kind} action",
                    actual="none",
                )
        protocol, metadata = self._described["protocol"], self._described["metaData"]
        reader = protocol.get("minReaderVersion", protocol.get("readerVersion", 1))
        features = _texts(protocol.get("readerFeatures"))
        is_mapped = reader == COLUMN_MAPPING_READER or (
            reader == FEATURES_READER and COLUMN_MAPPING in features
        )
        try:
            schema = schema_of(metadata, is_mapped)
        except FormatError as error:
            error.field = f"{self._facts.places['metaData']}.{error.field or ''}".rstrip(".")
            raise
        if isinstance(reader, int) and reader > FEATURES_READER:  # DLT-056 judges what is not a number
            raise Unsupported(
                f"the table needs version {reader!r} of the protocol", field="protocol.minReaderVersion"
            )
        return DeltaState(
            segment=segment,
            protocol=protocol,
            metadata=metadata,
            schema=schema,
            entries=list(self._live.values()),
            features=frozenset(features),
            writer_features=frozenset(_texts(protocol.get("writerFeatures"))),
            **vars(self._facts),
        )


def _texts(given: Any) -> set[str]:
    return {one for one in given if isinstance(one, str)} if isinstance(given, list) else set()


def _key(action: Mapping[str, Any], path: str) -> tuple[str, str]:
    """The key of logical files: the path and the deletion vector."""
    vector = action.get("deletionVector")
    if not isinstance(vector, dict):
        return path, ""
    given = cast("Json", vector)
    offset = given.get("offset")
    unique = f"{given.get('storageType')}{given.get('pathOrInlineDv')}"
    return path, unique if offset is None else f"{unique}@{offset}"


def added(file: str, number: int, add: Json) -> AddEntry:
    """The entry of an ``add`` action, without a resolved file.

    Args:
        file: The log file with the action, relative to the table.
        number: Its line or row in that file.
        add: The action.
    """
    raw = add.get("path")
    path = unquote(raw) if isinstance(raw, str) else ""
    entry = AddEntry(file, number, add, path, None)
    stats_text = add.get("stats")
    if isinstance(stats_text, str):
        try:
            stats = parse(stats_text)
        except ValueError as error:
            entry.stats_problem = f"not JSON: {error}"
        else:
            if isinstance(stats, dict):
                entry.stats = cast("Json", stats)
            else:
                entry.stats_problem = "not a JSON object"
    elif isinstance(stats_text, dict) and delta_commit(file.rpartition("/")[2]) is None:  # without texts
        entry.stats = cast("Json", stats_text)
    elif stats_text is not None:
        entry.stats_problem = "not a text"
    elif isinstance(parsed := add.get(STATS_PARSED), dict):
        entry.stats, entry.stats_member = cast("Json", parsed), STATS_PARSED
    return entry


def logical_key(entry: AddEntry) -> tuple[str, str]:
    """The key of a logical file: the path, and the deletion vector."""
    return _key(entry.action, entry.path)


def live_paths(state: DeltaState) -> Iterator[str]:
    """Yield the live data files inside the table's folder."""
    for entry in state.entries:
        if entry.inside is not None:
            yield entry.inside
