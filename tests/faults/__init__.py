"""Fault injection (durable.md §10): processes are killed, frozen and starved, and nothing may be lost.

`python -m tests.faults --seed N --runs 200` prints one row per id of the specification.
"""
