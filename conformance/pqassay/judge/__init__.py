"""The judge: what is asked for becomes a list of files, and each file becomes a report.

What lives here: the check of everything that was asked for (`checker`), of one target (`one_file`), of one file's bytes
(`file_check`), in worker processes (`workers`, which begin as copies of one that has imported `preloaded`), the options that all
of these share (`options`), the findings that are known already (`baseline`), and which files are judged at all (`selection`).

What never comes in: a rule (that is `pqassay.checks`), and how a report looks (`pqassay.report`).  The public functions
are `pqassay.check` and the class `pqassay.baseline.Baseline`; the pipeline also calls `planned` and `concluded`.

How the outcome of a file is decided: every rule for this kind of file is asked once, unless the tier, the selection, or an
exclusion leaves it out.  Its check yields violations (*checked*, and broken), yields none (*checked*, and kept), or raises why
it has nothing to say: `NotApplicable`, where the structure is absent; `NotChecked`, with the reason; a `FormatError` that names
another rule, which is then the one that is broken, so that one damage is one finding.  For the same reason, findings that follow from
others are left out (`pqassay.checks.conflicts`).  A file is *errored* where something
outside its bytes, or a limit of this program, kept it from being judged; it is *nonconformant* where a finding reaches the
threshold; otherwise it is *conformant*.
"""
