"""Golden cases of statistics: their claims by themselves, and their claims about values."""
