from __future__ import annotations

from stand_ins.fixtures import calls, compiler, program

__all__ = ["calls", "compiler", "program"]
