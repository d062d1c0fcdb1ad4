"""Calls that stay in flight from one micro-batch to the next: see `Carry`."""
