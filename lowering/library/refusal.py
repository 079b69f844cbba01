"""How a body says that it cannot compute what it was asked for."""

from __future__ import annotations


class Refused(Exception):  # noqa: N818 - reads as a sentence where it is raised
    """A library body cannot handle these arguments; the text is the reason that the user reads.

    It becomes part of an `UnsupportedOpError`.
    """
