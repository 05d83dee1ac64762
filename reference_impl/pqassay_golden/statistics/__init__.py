"""Golden cases of statistics: what they claim by themselves, and what they claim about values."""
