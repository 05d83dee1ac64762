"""The trace of a whole ``_pm`` file (for the time being)."""

from __future__ import annotations

from pqassay_spec import pm
from pqassay_spec.pm_dissection import take_apart
from pqassay_spec.pm_tree import Serialised
from pqassay_spec.trace import Leaf, trace


def traced(data: bytes) -> list[Leaf]:
    tree = take_apart(data)
    leaves = trace(pm.FIXED_HEADER, data[:32], root="header")[1]
    for n in range(len(tree.column_descriptors)):
        at = 32 + 32 * n
        leaves += trace(pm.COLUMN_DESCRIPTOR, data[at : at + 32], root=f"column_descriptors[{n}]", base=at)[1]
    for path, (start, length) in Serialised(tree).places.items():
        if path.startswith("blocks") and path.endswith("]") and path.count("[") == 1:
            leaves += trace(pm.BLOCK_HEADER, data[start : start + 8], root=path, base=start)[1]
            for c in range((length - 8) // 64):
                at = start + 8 + 64 * c
                leaves += trace(
                    pm.COLUMN_CHUNK, data[at : at + 64], root=f"{path}.column_chunks[{c}]", base=at
                )[1]
        elif path.startswith("snapshots"):
            leaves += trace(pm.FOOTER_FIELDS, data[start : start + 40], root=f"{path}.footer", base=start)[1]
            end = start + length
            for at in range(start + 40, end - 8, 4):
                leaves.append(
                    Leaf(f"{path}.row_group_entries[{(at - start - 40) // 4}].block_offset", at, 4, 0)
                )
            leaves.append(Leaf(f"{path}.checksum", end - 8, 4, 0))
            leaves.append(Leaf(f"{path}.footer_length", end - 4, 4, 0))
        else:
            leaves.append(Leaf(path, start, length, data[start : start + length]))
    return sorted(leaves, key=lambda leaf: leaf.offset)
