"""Makes the suite importable, which is run from the checkout and not installed."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[3]))
