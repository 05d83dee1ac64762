"""``pqassay.toml``: defaults for the options of ``pqassay check``, kept beside the data or in a repository.

    [check]
    paths = ["lake", "s3://bucket/sales"]
    tier = "index"
    exclude = ["_delta_log"]
    baseline = "known-findings.json"

The nearest file counts, from the current folder upwards.  Keys are the names of options; relative paths are relative to
the file that they are in.  What the command line says wins.
"""

from __future__ import annotations

import contextlib
import difflib
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast

from pqassay.errors import UsageError
from pqassay.report.formats import FormatName
from pqassay.report.model import COUNTED
from pqassay.report.pin import NO_PREVIEW
from pqassay.stores.targets import is_uri
from pqassay_spec.rules.catalogue import RELEASES, TIERS
from pqassay_spec.rules.profiles import NAMES as PROFILE_NAMES

FILE_NAME = "pqassay.toml"

GREATEST = 1 << 20
"""Bytes of a file of defaults, at most."""

TABLE = "check"

KeyKind = Literal["choice", "flag", "text", "texts", "path", "paths", "number", "whole", "size", "release"]


@dataclass(frozen=True)
class Key:
    """Type of a key's value."""

    kind: KeyKind
    choices: tuple[str, ...] = ()


KEYS: Mapping[str, Key] = {
    "paths": Key("paths"),
    "tier": Key("choice", TIERS),
    "level": Key("choice", tuple(COUNTED)),
    "complete": Key("flag"),
    "fail-on": Key("texts"),
    "max-files": Key("whole"),
    "rules": Key("release"),
    "rule": Key("texts"),
    "skip-rule": Key("texts"),
    "include": Key("texts"),
    "exclude": Key("texts"),
    "as": Key("choice", ("files",)),
    "idx1-column": Key("text"),
    "crc": Key("flag"),
    "profile": Key("choice", PROFILE_NAMES),
    "jobs": Key("whole"),
    "timeout": Key("number"),
    "memory": Key("size"),
    "baseline": Key("path"),
    "format": Key("choice", tuple(FormatName)),
    "history": Key("path"),
    "metrics": Key("path"),
}
"""Every key of the table ``[check]``."""

_WANTED: Mapping[KeyKind, str] = {
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


@dataclass(frozen=True)
class Config:
    """The defaults of one file; empty where there is none."""

    path: str = ""
    values: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def get(self, key: str, option: Any) -> Any:
        """The value of the command line, else of the file, else ``None``. An empty list counts as no value."""
        if option is not None and option != []:
            return option
        return self.values.get(key)


def nearest(folder: Path | None = None) -> str | None:
    """The nearest ``pqassay.toml``, from a folder upwards; from the current one by default."""
    folder = Path.cwd() if folder is None else folder.absolute()
    for place in (folder, *folder.parents):
        if (place / FILE_NAME).is_file():
            return str(place / FILE_NAME)
    return None


def read(path: str) -> Config:
    """Read a file of defaults.

    Raises:
        UsageError: It cannot be read, is no TOML, or holds what no option takes; the message names file and key.
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
        raise UsageError(f"{path}: this is no TOML: {' '.join(str(error).split())}") from None
    _require_known(path, "", content, [TABLE])
    table = content.get(TABLE, {})
    if not isinstance(table, dict):
        raise UsageError(f"{path}: {TABLE} is no table; write [{TABLE}]")
    entries = cast("dict[str, Any]", table)
    _require_known(path, f"[{TABLE}]: ", entries, list(KEYS))
    return Config(path, {key: _value(path, key, value) for key, value in entries.items()})


def parse_size(text: str) -> int:
    """Bytes that a text like ``2G``, ``512M`` or ``1000000`` means; units are powers of 1024.

    >>> parse_size("2G"), parse_size("1.5 MiB"), parse_size("12")
    (2147483648, 1572864, 12)

    Raises:
        ValueError: It means none.
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is no size; write it like 2G or 512M")
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


def _value(path: str, key: str, value: Any) -> Any:
    """A value as its option takes it."""
    declared = KEYS[key]
    place = f"{path}: [{TABLE}]: {key}"
    match declared.kind, value:
        case "choice", _:
            if value not in declared.choices:
                raise UsageError(f"{place} is one of {', '.join(declared.choices)}, not {value!r}")
            return value
        case ("flag", bool()) | ("text", str()):
            return value
        case "path", str():
            return _located(path, value)
        case (("texts" | "paths"), [*items]) if all(isinstance(item, str) for item in items):
            return [_located(path, item) for item in items] if declared.kind == "paths" else items
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
    raise UsageError(f"{place} wants {_WANTED[declared.kind]}, not {value!r}")


def _located(path: str, text: str) -> str:
    """A path of a file of defaults, as seen from the current folder."""
    if is_uri(text) or text.startswith(("/", "iceberg:")):
        return text
    if text.startswith("delta:"):
        return f"delta:{_located(path, text.removeprefix('delta:'))}"
    folder = os.path.relpath(Path(path).parent)
    return text if folder == "." else f"{folder}/{text}"
