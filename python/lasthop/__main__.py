"""``python -m lasthop`` is the ``lasthop`` command."""

import sys

from lasthop.cli import main

if __name__ == "__main__":
    sys.exit(main())
