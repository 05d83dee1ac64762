"""What a scan did, for people: as text, as a waterfall of what each rung left, and as a picture."""
