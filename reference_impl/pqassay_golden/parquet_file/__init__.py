"""Golden cases of the file itself: framing, footer, types, pages, values, and copies of the schema in the key-value metadata."""
