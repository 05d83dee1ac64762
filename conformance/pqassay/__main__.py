"""The entry point of the command ``pqassay``, as a script or as ``python -m pqassay``.

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


if __name__ == "__main__":
    main()
