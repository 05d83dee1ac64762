"""Files of the site beside pages: the checker with its runtime, and downloads.

Contents: the judge as an archive for the browser, with Pyodide (`checker`), and golden files, rules and schemas to download (`downloads`).

Excluded: a page.
"""
