"""How optional parts are installed: from a checkout, until pqassay is in a registry of packages."""


def install(extra: str) -> str:
    """The command that installs pqassay with what an optional part needs, and where it runs.

    >>> install("spark")
    "pip install '.[spark]' in a checkout of pqassay"
    """
    return f"pip install '.[{extra}]' in a checkout of pqassay"
