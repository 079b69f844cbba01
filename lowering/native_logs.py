"""Keeps native libraries from writing to the user's stderr."""

from __future__ import annotations

import os


def quiet_native_logs() -> None:
    """Call before the first import of jaxlib, which reads its log level once, when it is loaded.

    At its default, XLA announces each client on stderr. A level that the user has set is kept.
    """
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")
