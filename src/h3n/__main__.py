"""``python -m h3n``: the same as the command ``h3n``, for programs that start a module."""

from h3n.cli import main

if __name__ == "__main__":
    main()
