"""The judge: turns a request into a list of files, and each file into a report.

Contents: the check of all targets (`checker`), of one target (`one_file`) and of one file's bytes
(`file_check`). It runs in worker processes (`workers`), which are forked from a process that imported
`preloaded`. Also the shared options (`options`), the known findings (`baseline`), and the selection of files
(`selection`).

Excluded: rules (see `pqassay.checks`), and the form of a report (see `pqassay.report`).  The public functions
are `pqassay.check` and the class `pqassay.baseline.Baseline`; the pipeline also calls `planned` and `concluded`.

The outcome of a file: every rule for this kind of file is tested once, unless the tier, the selection or an
exclusion leaves it out.  Its check yields violations (*checked*, and broken), yields none (*checked*, and kept), or raises an error. `NotApplicable` means that the structure is absent, `NotChecked` gives a reason, and a `FormatError` may name another rule, which is then the broken one. So one damage is one finding. For the same reason, findings that follow from others are dropped (`pqassay.checks.conflicts`).
    A file is *errored* if something outside its bytes, or a limit of this program, prevented the check. It is
    *nonconformant* if a finding reaches the threshold; otherwise it is *conformant*.
"""
