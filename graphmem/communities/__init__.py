"""Communities: which entities belong together, level by level, what they are called, and how that changes."""
