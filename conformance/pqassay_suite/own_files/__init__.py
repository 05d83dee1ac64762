"""Files of someone's own in the place of golden files: what they hold, and which rows two independent readers agree about."""
