"""Golden cases of the page index: its two lists, the pages that they are about, and a worked example that was published."""
