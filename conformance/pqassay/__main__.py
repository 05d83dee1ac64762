"""The entry points of the commands ``pqassay``, as a script or as ``python -m pqassay``, and ``pqassay-ref``.

This module imports next to nothing before Ctrl-C is taken care of, and only then the command.
"""

from pqassay_spec.base.interrupts import CleanEnd, end_at_once


def main() -> None:
    """Run the command."""
    run("pqassay", "pqassay.cli.main")


def reference() -> None:
    """Run the command of the reference and the reader."""
    run("pqassay-ref", "pqassay.cli.reference")


def run(program: str, module: str) -> None:
    """Run the ``app`` of a module as a program, so that Ctrl-C, a closed pipe or a mistake of ours ends it cleanly."""
    end_at_once()
    import importlib  # noqa: PLC0415 - see above

    from pqassay_spec.base.mistakes import own_mistakes  # noqa: PLC0415 - see above
    from pqassay_spec.base.terminal import guarded_output  # noqa: PLC0415 - see above

    with own_mistakes(program):
        app = importlib.import_module(module).app
        with CleanEnd(), guarded_output():
            app()


if __name__ == "__main__":
    main()
