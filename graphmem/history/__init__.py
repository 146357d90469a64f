"""What became of beliefs: differences with their causes, the story of a fact, who did what, what was known when."""
