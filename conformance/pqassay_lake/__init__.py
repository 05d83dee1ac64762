"""Many files for many nights: what a single check does not need.

Contents: the history of checks and the findings table (`history`), repair plans (`repair`), cost estimates
(`cost`), samples of files (`sampling`), owners of files (`owners`), and metrics for alarms (`metrics`). `cli`
has the commands, and what ``pqassay check`` loads for ``--history``, ``--metrics`` and ``--reuse``.

Excluded: judging files.  Each of these begins with a plan of `pqassay.judge.checker` or ends with its report;
verdicts come from there. It never meets the suite, the reference or the reader.
"""
