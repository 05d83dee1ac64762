"""What a check costs: requests, bytes, time and money, predicted from footers."""
