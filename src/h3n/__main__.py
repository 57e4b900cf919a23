"""`python -m h3n` is the command `h3n`."""

from h3n.cli import main

main()
