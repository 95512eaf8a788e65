"""The command ``python -m immax``, which is the same as ``immax``."""

from immax.cli.entry_point import main

if __name__ == "__main__":
    main()
