"""What leaves the site as files: the checker with its runtime, and downloads.

What lives here: the judge as an archive for the browser, with Pyodide (`checker`), and golden files, rules and schemas to download (`downloads`).

What never comes in: a page.
"""
