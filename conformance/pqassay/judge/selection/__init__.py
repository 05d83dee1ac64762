"""The selection of files to judge: files of tables, listed files, new files, or a sample."""
