"""The metadata file of an Iceberg table."""

from __future__ import annotations

import gzip
import io
import re
import zlib
from typing import Any, cast

from pqassay.tables.files import TableFiles, most_plain
from pqassay_spec.base.errors import Malformed, Unsupported
from pqassay_spec.table.iceberg import FORMAT_VERSIONS
from pqassay_spec.table.layout import ICEBERG_METADATA, is_iceberg_metadata
from pqassay_tables.metadata.delta.actions import parse
from pqassay_tables.metadata.iceberg.schema import objects

METADATA, CURRENT = "ICE-001", "ICE-002"

Json = dict[str, Any]

EMPTY = (None, -1)
"""The values of ``current-snapshot-id`` for a table without rows."""


class NotKnownError(Exception):
    """The files of the table do not identify the requested state."""


_NUMBERED = re.compile(r"(?:v(\d{1,18})|(\d{1,18})-.+?)(?:\.gz)?\.metadata\.json(?:\.gz)?", re.ASCII)
"""Names of metadata files with a version: of tables in a file system, and of tables in a catalog."""


def metadata_file(files: TableFiles, pointer: str = "") -> str:
    """The metadata file to read: the named file, or the file with the highest version.

    Only a catalog knows the current file for certain, since a higher version may be the rest of a failed commit. `VERSION_HINT` is never
    newer, so it is not read.

    Raises:
        Malformed: There is no metadata file.
        NotKnownError: There are two files with the highest version.
        OSError: The folder cannot be listed.
    """
    if pointer:
        return pointer
    names = sorted(name for name in files.listed(ICEBERG_METADATA) if is_iceberg_metadata(name))
    if not names:
        raise Malformed("there is no metadata file", rule=METADATA, field=ICEBERG_METADATA)
    versions = {name: metadata_version(name) for name in names}
    highest = max(versions.values())
    newest = [name for name in names if versions[name] == highest]
    if len(newest) > 1:
        raise NotKnownError(
            (
                f"{len(newest)} metadata files have the version {highest}: give the path of the "
                "current one, which the catalog knows"
            )
            if highest >= 0
            else "several metadata files have no version in their names: give the path of the current one"
        )
    return f"{ICEBERG_METADATA}/{newest[0]}"


def metadata_version(name: str) -> int:
    """The version in the name or path of a metadata file; -1 without one."""
    match = _NUMBERED.fullmatch(name.rpartition("/")[2])
    return int(match[1] or match[2]) if match else -1


def snapshot_of(metadata: Json, snapshot: int | None, ref: str | None) -> Json | None:
    """The snapshot to judge; ``None`` for an empty table.

    Args:
        metadata: The table metadata.
        snapshot: The requested snapshot id.
        ref: The requested branch or tag. If both are given, the branch or tag is preferred if it exists.

    Raises:
        Malformed: ICE-002, there is no such snapshot in the metadata.
        NotKnownError: The requested snapshot, branch or tag does not exist.
    """
    kept = objects(metadata, "snapshots")
    refs: Any = metadata.get("refs")
    reference: Any = cast("Json", refs).get(ref) if isinstance(refs, dict) and ref is not None else None
    if snapshot is not None and not isinstance(reference, dict):
        ref = None
    if ref is not None:
        if not isinstance(reference, dict):
            names = sorted(cast("Json", refs))[:20] if isinstance(refs, dict) else []
            raise NotKnownError(f"there is no branch or tag {ref}; there are {', '.join(names) or 'none'}")
        snapshot = cast("Json", reference).get("snapshot-id")
    snapshot_id = metadata.get("current-snapshot-id") if snapshot is None and ref is None else snapshot
    if snapshot_id in EMPTY:
        return None
    one = next((one for one in kept if one.get("snapshot-id") == snapshot_id), None)
    if one is not None:
        return one
    if snapshot is not None and ref is None:
        some = ", ".join(str(one.get("snapshot-id")) for one in kept[-20:])
        raise NotKnownError(f"there is no snapshot {snapshot}; there are {some or 'none'}")
    raise Malformed(
        f"snapshot {snapshot_id} is not among the {len(kept)} that the metadata hold",
        rule=CURRENT,
        field="metadata.current-snapshot-id" if ref is None else "metadata.refs",
        expected="the id of a snapshot in the list",
        actual=str(snapshot_id),
    )


def read_metadata(files: TableFiles, name: str) -> tuple[Json, int]:
    """The content of a metadata file, and its size in bytes.

    Raises:
        Malformed: ICE-001.
        OSError: The file cannot be read.
    """
    data = files.read(name)
    try:
        found = parse(_plain(name, data).decode())
    except (ValueError, OSError, EOFError, zlib.error) as error:
        raise _broken(name, f"{name} is not JSON: {error}", "a JSON object", str(error)) from None
    if not isinstance(found, dict):
        raise _broken(name, f"{name} is not a JSON object", "a JSON object", repr(found)[:80])
    members = cast("Json", found)
    version = members.get("format-version")
    if version not in FORMAT_VERSIONS or type(version) is not int:
        known = f"one of {', '.join(map(str, FORMAT_VERSIONS))}"
        raise _broken(name, f"format-version of {name} is {version!r}", known, repr(version))
    if not isinstance(members.get("location"), str):
        raise _broken(name, f"{name} has no location", "a URI", repr(members.get("location"))[:80])
    return members, len(data)


def _plain(name: str, data: bytes) -> bytes:
    return plain_metadata(name, data) if ".gz." in name or name.endswith(".gz") else data


def plain_metadata(name: str, data: bytes) -> bytes:
    """The decompressed bytes of a metadata file, up to the general size limit.

    Raises:
        Unsupported: The limit is exceeded. Also raises `OSError`, `EOFError` and `zlib.error` if decompression fails.
    """
    most = most_plain(len(data))
    with gzip.GzipFile(fileobj=io.BytesIO(data)) as packed:
        plain = packed.read(most + 1)
    if len(plain) > most:
        raise Unsupported(f"{name} has more than {most:,} bytes without compression", field=name)
    return plain


def _broken(name: str, reason: str, expected: str, actual: str) -> Malformed:
    return Malformed(reason, rule=METADATA, field=name, expected=expected, actual=actual, file=name)
