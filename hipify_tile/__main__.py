"""``python -m hipify_tile`` is ``tile-migrate``."""

from hipify_tile.cli.app import main

if __name__ == "__main__":
    main()
