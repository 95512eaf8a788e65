"""``python -m immax``."""

from immax.cli.main import main

if __name__ == "__main__":
    main()
