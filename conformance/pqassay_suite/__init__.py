"""The suite: golden cases put to an implementation through its driver.

Contents: cases and their manifests, the protocol, the process of a driver, the judgement of answers, what an
implementation is expected to get wrong, and the time that it takes.

Excluded: an implementation, not even the reference: every driver is a command, started like any stranger's.

How a request reaches a driver: the runner makes a task of each case and operation, and leaves out what the driver's greeting does
not claim.  A task becomes one or more requests; each starts the driver's command with the path of a JSON file, in a
folder of its own with a time limit.  Its exit status and its standard output are an answer, a refusal, or a crash; a
judgement compares the answer with what the manifest expects.
"""
