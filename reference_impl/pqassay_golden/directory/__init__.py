"""Golden cases of the index directory: whole files, several directories in one file, and files with one mutation."""
