"""The evidence for the chapter on order by key."""
