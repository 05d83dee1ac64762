"""Renderers: the forms in which a report of a check is written: text, JUnit, SARIF, Markdown, HTML."""
