"""The entry points of the commands ``pqassay``, as a script or as ``python -m pqassay``, and ``pqassay-ref``.

It imports next to nothing before Ctrl-C is taken care of, and only then the command.
"""

from pqassay_spec.base.interrupts import end_at_once


def main() -> None:
    """Run the command."""
    end_at_once()
    from pqassay_spec.base.mistakes import own_mistakes  # noqa: PLC0415 - see above

    with own_mistakes("pqassay"):
        from pqassay.cli.main import main as command  # noqa: PLC0415 - see above

        command()


def reference() -> None:
    """Run the command of the reference and the reader."""
    end_at_once()
    from pqassay_spec.base.mistakes import own_mistakes  # noqa: PLC0415 - see above

    with own_mistakes("pqassay-ref"):
        from pqassay.cli.reference import main as command  # noqa: PLC0415 - see above

        command()


if __name__ == "__main__":
    main()
