"""The findings that the overview lists, from the sections of its two pages."""

from __future__ import annotations

from typing import Any

from finding_programs import READERS, WRITERS, findings


def figures() -> dict[str, Any]:
    """By the name of each table its findings, and how many libraries and engines they are about."""
    listed = {"findings of readers": findings(READERS), "findings of writers": findings(WRITERS)}
    libraries = {
        name: len({software.rpartition(" ")[0] for one in found for software in one.software})
        for name, found in listed.items()
    }
    return {"listed": listed, "libraries": libraries}
