"""Pages show what was observed of a rule as it is stored, and keep what belongs to something else."""

from __future__ import annotations

import observe

from pqassay_spec.rules.observed import observations

REPORTS = """
```text
  FAIL PIX-042
    could     wrong rows
    observed  nothing
```

```console
$ pqassay report pyarrow.json
failed  pix/zeros-and-exact-bounds  scan, and 1 more
    observed  wrong rows from a valid file
```
"""


def test_what_was_observed_of_a_rule_ends_with_its_finding() -> None:
    """What a run observed looks alike, and is of no rule."""
    stored = observations()["PIX-042"].summary.sentence
    assert REPORTS.replace("observed  nothing", f"observed  {stored}") == observe.refreshed(
        REPORTS, observations()
    )
