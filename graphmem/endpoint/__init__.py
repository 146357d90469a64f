"""Talking to a model endpoint: one connection, one table of what can go wrong, one place that decides what is tried again."""
