"""Copies of the schema that writers keep in the footer, and what a schema shows of its writer."""
