"""How to install optional parts: from a checkout, until pqassay is in a package registry."""


def install(extra: str) -> str:
    """The command that installs an optional part of pqassay, and where to run it.

    >>> install("spark")
    "pip install '.[spark]' in a checkout of pqassay"
    """
    return f"pip install '.[{extra}]' in a checkout of pqassay"
