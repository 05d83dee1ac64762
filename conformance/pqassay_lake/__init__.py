"""Checks of many files over time: history, cost, samples, and repair.

Contents: the history of checks and the findings table (`history`), repair plans (`repair`), cost estimates (`cost`), samples of files
(`sampling`), owners of files (`owners`), and metrics for alarms (`metrics`). `cli` has the commands, and the parts of ``pqassay check`` for
``--history``, ``--metrics`` and ``--reuse``.

Excluded: judging files. Each of these begins with a plan of `pqassay.judge.checker` or ends with its report; verdicts come from there. It
never imports the suite, the reference or the reader.
"""
