"""The entry point of the command ``pqassay-ref``, as a script or as ``python -m pqassay_reference``.

It imports next to nothing before Ctrl-C is taken care of, and only then the command.
"""

from pqassay_spec.base.interrupts import end_at_once


def main() -> None:
    """Run the command."""
    end_at_once()
    from pqassay_spec.base.mistakes import own_mistakes  # noqa: PLC0415 - see above

    with own_mistakes("pqassay-ref"):
        from pqassay_reference.cli.main import main as command  # noqa: PLC0415 - see above

        command()


if __name__ == "__main__":
    main()
