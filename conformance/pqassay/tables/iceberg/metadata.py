"""The metadata file of an Iceberg table."""

from __future__ import annotations

import gzip
import io
import zlib
from typing import Any, cast

from pqassay.tables.delta.actions import parse
from pqassay.tables.files import MOST_METADATA, TableFiles
from pqassay_spec.base.errors import Malformed
from pqassay_spec.table.iceberg import FORMAT_VERSIONS
from pqassay_spec.table.layout import ICEBERG_METADATA, is_iceberg_metadata

METADATA = "ICE-001"

Json = dict[str, Any]

EMPTY = (None, -1)
"""What ``current-snapshot-id`` is of a table without rows."""


def metadata_file(files: TableFiles, pointer: str = "") -> str:
    """The metadata file that is read: the one that somebody names, else the last by its name.

    Raises:
        Malformed: There is none.
        OSError: The folder cannot be listed.
    """
    if pointer:
        return pointer
    names = sorted(name for name in files.listed(ICEBERG_METADATA) if is_iceberg_metadata(name))
    if not names:
        raise Malformed("there is no metadata file", rule=METADATA, field=ICEBERG_METADATA)
    return f"{ICEBERG_METADATA}/{names[-1]}"


def read_metadata(files: TableFiles, name: str) -> tuple[Json, int]:
    """What a metadata file says, and its length in bytes.

    Raises:
        Malformed: ICE-001.
        OSError: It cannot be read.
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
    return members, len(data)


def _plain(name: str, data: bytes) -> bytes:
    """The bytes without compression; no more of them than are read of any file."""
    if ".gz." not in name and not name.endswith(".gz"):
        return data
    with gzip.GzipFile(fileobj=io.BytesIO(data)) as packed:
        plain = packed.read(MOST_METADATA + 1)
    if len(plain) > MOST_METADATA:
        raise ValueError(f"it has more than {MOST_METADATA:,} bytes without compression")
    return plain


def _broken(name: str, reason: str, expected: str, actual: str) -> Malformed:
    return Malformed(reason, rule=METADATA, field=name, expected=expected, actual=actual, file=name)
