"""Counting of calls against limits: meters, waiting lines, the gate of an operator, ledgers."""
