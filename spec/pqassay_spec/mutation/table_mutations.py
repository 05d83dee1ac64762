r"""Mutations of tables: one claim of a log changes, and all other bytes stay.

>>> line = b'{"add":{"size":12}}\n'
>>> TableMutation(file="_delta_log/0.json", op="set", line=0, path="add.size", to=13).applied({"_delta_log/0.json": line})
{'_delta_log/0.json': b'{"add":{"size":13}}\n'}
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pqassay_spec.base.strict_json import Closed
from pqassay_spec.table.json_places import changed

TableOperator = Literal["set", "remove", "write", "insert", "bytes", "drop"]


@dataclass(frozen=True, kw_only=True)
class TableMutation(Closed):
    """A change of one file of a table.

    Attributes:
        file: The file, relative to the table.
        op: ``set`` gives a member of a line another value, and ``remove`` removes it; ``write`` replaces a line by a text, and
            ``insert`` adds a line before it; ``bytes`` replaces bytes from an offset on; ``drop`` removes the file.
        line: The line, from 0 on.
        path: The names of members, joined by dots.
        to: The value; a text for ``write`` and ``insert``, hex for ``bytes``.
        offset: Where the bytes begin.
    """

    file: str
    op: TableOperator
    line: int | None = None
    path: str | None = None
    to: Any = None
    offset: int | None = None

    def applied(self, files: Mapping[str, bytes]) -> dict[str, bytes]:
        """The files of a table, with this change. Raises `KeyError` if there is nothing to change."""
        result = dict(files)
        data = result.pop(self.file)
        if self.op == "drop":
            return result
        if self.op == "bytes":
            start, raw = self.offset or 0, bytes.fromhex(self.to)
            result[self.file] = data[:start] + raw + data[start + len(raw) :]
            return {name: result[name] for name in files}
        lines, number = data.split(b"\n"), self.line or 0
        if self.op == "write":
            lines[number] = str(self.to).encode()
        elif self.op == "insert":
            lines.insert(number, str(self.to).encode())
        else:
            value = (
                json.dumps(self.to, ensure_ascii=False, separators=(",", ":")) if self.op == "set" else None
            )
            lines[number] = changed(lines[number], (self.path or "").split("."), value)
        result[self.file] = b"\n".join(lines)
        return {name: result[name] for name in files}
