from __future__ import annotations

from stand_ins.fixtures import calls, compiler, program
from stand_ins.libnrt import built, stand_in

__all__ = ["built", "calls", "compiler", "program", "stand_in"]
