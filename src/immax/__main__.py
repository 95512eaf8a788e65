"""``python -m immax``."""

from immax.cli.entry_point import main

if __name__ == "__main__":
    main()
