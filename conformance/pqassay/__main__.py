"""The entry points of the command ``pqassay``: as a script, as ``python -m pqassay``, and under its old names.

This module imports almost nothing until Ctrl-C is handled. Then it imports the command.
"""

from pqassay_spec.base.interrupts import end_at_once


def main() -> None:
    """Run the command."""
    _run("main")


def reference() -> None:
    """Run the command under its old name ``pqassay-ref``."""
    _run("reference")


def pipeline() -> None:
    """Run the command ``pqassay spark`` under its old name ``pqassay-spark``."""
    _run("pipeline")


def _run(entry: str) -> None:
    end_at_once()
    import importlib  # noqa: PLC0415 - see above

    from pqassay_spec.base.arrow_alone import load_no_pandas  # noqa: PLC0415 - see above
    from pqassay_spec.base.mistakes import own_mistakes  # noqa: PLC0415 - see above

    load_no_pandas()
    with own_mistakes("pqassay"):
        getattr(importlib.import_module("pqassay.cli.main"), entry)()


if __name__ == "__main__":
    main()
