"""Renderers: modules that write the report of a check as text, JUnit, SARIF, Markdown or HTML."""
