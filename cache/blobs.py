"""What actions take and give."""

from __future__ import annotations

from collections.abc import Mapping

Blobs = Mapping[str, bytes]
"""Bytes by name."""
