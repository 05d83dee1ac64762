"""The JSON metadata and manifests of Iceberg tables, parsed into facts.

Contents: the selection and parsing of the metadata file (`metadata`).
"""
