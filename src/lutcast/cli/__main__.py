"""``python -m lutcast.cli``."""

import sys

from . import main

sys.exit(main())
