"""The suite: tests an implementation with golden cases through its driver.

Contents: cases and their manifests, the protocol, the process of a driver, judging answers, expected
failures of an implementation, and measured times.

Excluded: implementations, even the reference: every driver is an external command.

How a request reaches a driver: the runner makes a task from each case and operation, and leaves out tasks that
need undeclared capabilities.  A task becomes one or more requests. Each starts the driver's command with the
path of a JSON file, in a separate folder and with a time limit.  Its exit status and its standard output are
an answer, a refusal, or a crash; a judgement compares the answer with what the manifest expects.
"""
