"""The predicted costs of a check: requests, bytes, time and money, from footers."""
