"""Arrow does not load pandas by itself, and code that asks for pandas still gets it."""

from __future__ import annotations

import sys

import pytest

from processes import run

ASKED_FOR = "values.to_pandas().iloc[0]"

CONVERTS = (
    f"values = pyarrow.array([5]); print('pandas' in sys.modules, {ASKED_FOR}, 'pandas' in sys.modules)"
)


@pytest.mark.parametrize(
    "program", ["load_no_pandas(); import pyarrow; ", "import pyarrow; load_no_pandas(); "]
)
def test_arrow_loads_pandas_only_where_it_is_asked_for(program: str) -> None:
    start = "import sys; from pqassay_spec.base.arrow_alone import load_no_pandas; "

    assert (
        "False 5 True\n"
        == run([sys.executable, "-c", start + program + CONVERTS], capture_output=True, text=True).stdout
    )


def test_what_was_loaded_stays() -> None:
    program = "import pandas, pyarrow, sys; from pqassay_spec.base.arrow_alone import load_no_pandas; load_no_pandas(); "

    assert (
        "True 5 True\n"
        == run([sys.executable, "-c", program + CONVERTS], capture_output=True, text=True).stdout
    )
