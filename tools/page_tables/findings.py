"""The table of findings, from the sections of two guide pages."""

from __future__ import annotations

from typing import Any

from finding_programs import READERS, WRITERS, findings


def figures() -> dict[str, Any]:
    """The findings of each table by its name, and the number of libraries and engines."""
    listed = {"findings of readers": findings(READERS), "findings of writers": findings(WRITERS)}
    libraries = {
        name: len({software.rpartition(" ")[0] for one in found for software in one.software})
        for name, found in listed.items()
    }
    return {"listed": listed, "libraries": libraries}
