"""Golden cases of the page index: its two lists, the pages that they describe, and a published example."""
