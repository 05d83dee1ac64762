"""``pqassay.toml``: defaults for the options of ``pqassay check``, kept beside the data or in a repository.

[check]
paths = ["lake", "s3://bucket/sales"]
tier = "index"
exclude = ["_delta_log"]
baseline = "known-findings.json"

The nearest file is used, from the current folder upwards. Keys are the names of options; relative paths are relative to the file that they
are in. The command line overrides the file.
"""

from __future__ import annotations

import contextlib
import difflib
import os
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from pqassay.errors import UsageError
from pqassay.judge.options import Declared, Kind
from pqassay.report.pin import NO_PREVIEW
from pqassay.stores.targets import is_uri
from pqassay_spec.base.help_pages import note_renamed
from pqassay_spec.rules.catalogue import RELEASES

FILE_NAME = "pqassay.toml"

GREATEST = 1 << 20
"""The largest size of a configuration file, in bytes."""

TABLE = "check"

RENAMED = {"as": "as-files"}
"""Renamed keys; the old ones work until 1.0."""

_WANTED: Mapping[Kind, str] = {
    "flag": "true or false",
    "text": "a string",
    "texts": "a list of strings",
    "path": "a string",
    "paths": "a list of strings",
    "number": "a number, at least 0",
    "whole": "a whole number, at least 0",
    "size": 'a number of bytes, or a string like "2G"',
    "release": "a release in quotes, one of " + ", ".join(f'"{release}"' for release in RELEASES),
}

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(?:([kmgt])(?:i?b)?|b)?", re.IGNORECASE)

_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


def nearest(folder: Path | None = None) -> str | None:
    """The nearest ``pqassay.toml``, searched upwards from a folder; by default from the current one."""
    folder = Path.cwd() if folder is None else folder.absolute()
    for place in (folder, *folder.parents):
        if (place / FILE_NAME).is_file():
            return str(place / FILE_NAME)
    return None


def read(path: str, options: Iterable[Declared]) -> dict[str, Any]:
    """Read a configuration file.

    Args:
        path: The file.
        options: The options that it may set, beside ``paths``.

    Returns:
        The values, by the names of the options.

    Raises:
        UsageError: The file cannot be read, is not TOML, or has an invalid key or value; the message names file and key.
    """
    try:
        with Path(path).open("rb") as file:
            text = file.read(GREATEST + 1)
        if len(text) > GREATEST:
            raise UsageError(f"{path}: a file of defaults has at most {GREATEST >> 20} MiB")
        content = tomllib.loads(text.decode())
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"{path}: not valid TOML: {' '.join(str(error).split())}") from None
    _require_known(path, "", content, [TABLE])
    table = content.get(TABLE, {})
    if not isinstance(table, dict):
        raise UsageError(f"{path}: {TABLE} is not a table; write [{TABLE}]")
    entries = cast("dict[str, Any]", table)
    known: dict[str, tuple[Kind, Sequence[str]]] = {"paths": ("paths", ())}
    known |= {one.name: (one.option.kind, one.choices) for one in options if one.option.in_file}
    for old, now in RENAMED.items():
        if entries.get(old) == "files":
            note_renamed(f"{old} = {entries.pop(old)!r}", f"{now} = true")
            entries[now] = True
    _require_known(path, f"[{TABLE}]: ", entries, list(known))
    return {key: _value(path, key, value, *known[key]) for key, value in entries.items()}


def parse_size(text: str) -> int:
    """The number of bytes in a text like ``2G``, ``512M`` or ``1000000``; units are powers of 1024.

    >>> parse_size("2G"), parse_size("1.5 MiB"), parse_size("12")
    (2147483648, 1572864, 12)

    Raises:
        ValueError: The text is not a size.
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is not a size; write it like 2G or 512M")
    return int(float(match[1]) * 1024 ** _POWERS[(match[2] or "").lower()])


def _require_known(path: str, place: str, entries: Mapping[str, Any], known: list[str]) -> None:
    for key in entries:
        if key == "preview":
            instead = f'rules = "{RELEASES[-2]}"'
            raise UsageError(f"{path}: {place}{key}: {NO_PREVIEW.format(instead)}")
        if key not in known:
            near = difflib.get_close_matches(key.replace("_", "-"), known, n=1, cutoff=0.5)
            hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(known)}"
            raise UsageError(f"{path}: {place}there is no key {key}; {hint}")


def _value(path: str, key: str, value: Any, kind: Kind, choices: Sequence[str]) -> Any:
    """A value converted to the form that its option takes."""
    place = f"{path}: [{TABLE}]: {key}"
    match kind, value:
        case "choice", _:
            if value not in choices:
                raise UsageError(f"{place} is one of {', '.join(choices)}, not {value!r}")
            return value
        case ("flag", bool()) | ("text", str()):
            return value
        case "path", str():
            return _located(path, value)
        case (("texts" | "paths"), [*items]) if all(isinstance(item, str) for item in items):
            return [_located(path, item) for item in items] if kind == "paths" else items
        case "release", str() if value in RELEASES:
            return value
        case "size", str():
            with contextlib.suppress(ValueError):
                return parse_size(value)
        case (("number" | "whole" | "size"), int()) if not isinstance(value, bool) and value >= 0:
            return value
        case "number", float() if value >= 0:
            return value
        case _:
            pass
    raise UsageError(f"{place} wants {_WANTED[kind]}, not {value!r}")


def _located(path: str, text: str) -> str:
    """A path of a configuration file, relative to the current folder."""
    if is_uri(text) or text.startswith(("/", "iceberg:")):
        return text
    if text.startswith("delta:"):
        return f"delta:{_located(path, text.removeprefix('delta:'))}"
    folder = os.path.relpath(Path(path).parent)
    return text if folder == "." else f"{folder}/{text}"
