"""The entry points of the commands ``pqassay``, as a script or as ``python -m pqassay``, and ``pqassay-ref``.

This module imports next to nothing before Ctrl-C is taken care of, and only then the command.
"""

from pqassay_spec.base.interrupts import end_at_once


def main() -> None:
    """Run the command."""
    _run("pqassay", "main")


def reference() -> None:
    """Run the command of the reference and the reader."""
    _run("pqassay-ref", "reference")


def _run(program: str, module: str) -> None:
    end_at_once()
    import importlib  # noqa: PLC0415 - see above

    from pqassay_spec.base.mistakes import own_mistakes  # noqa: PLC0415 - see above

    with own_mistakes(program):
        importlib.import_module(f"pqassay.cli.{module}").main()


if __name__ == "__main__":
    main()
