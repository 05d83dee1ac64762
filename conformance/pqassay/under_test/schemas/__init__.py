"""Copies of the schema in the footer, and the signs of the writer's release in a schema."""
