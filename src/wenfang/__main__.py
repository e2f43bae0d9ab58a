"""`python -m wenfang` is the `wenfang` command."""

from wenfang.cli import main

main()
