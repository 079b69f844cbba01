"""A compiled graph in the form that AOTAutograd's cache knows how to keep.

The interfaces of torch that are used here are private. `tests/warm_start/test_canaries.py` holds
what is relied upon.
"""

from __future__ import annotations

import contextvars
import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from torch._functorch._aot_autograd.autograd_cache import BypassAOTAutogradCache
from torch._inductor.output_code import OutputCode

from neuron_compile.cache.forks import Guard
from neuron_compile.warm_start.stored_graph import StoredGraph

Boxed = Callable[[list[Any]], Sequence[Any]]
Restore = Callable[[StoredGraph], Boxed | None]

_restore: contextvars.ContextVar[Restore | None] = contextvars.ContextVar("restore", default=None)


@contextmanager
def restoring_by(restore: Restore) -> Iterator[None]:
    """Within it, graphs that come out of torch's cache are made callable by `restore`."""
    token = _restore.set(restore)
    try:
        yield
    finally:
        _restore.reset(token)


class StorableCode(OutputCode):
    """A graph that is compiled when it is first called, if it has not been before.

    `stored` is what is kept of it; a graph without is not kept. What torch pickles is that record's
    bytes and never native code.
    """

    def __init__(
        self, stored: StoredGraph | None, compile_it: Callable[[], Boxed] | None = None
    ) -> None:
        super().__init__()
        # On the instance, not the class: torch.compile wraps callables and copies their __dict__.
        self._boxed_call = True
        self._stored = stored
        # What is still to be done; the copies that torch makes share it.
        self._pending: list[Callable[[], Boxed]] = [compile_it] if compile_it else []
        self._callable: Boxed | None = None
        self._lock = Guard()

    def __call__(self, inputs: Any) -> Any:
        """Run under AOTAutograd's boxed calling convention."""
        return (self._callable or self.compile_now())(inputs)

    def compile_now(self) -> Boxed:
        """Do not wait for the first call. Raises what compiling raises, each time."""
        with self._lock:
            if self._callable is None:
                if not self._pending:
                    raise BypassAOTAutogradCache(
                        "a graph of backend neuron was called before it was restored"
                    )
                self._callable = self._pending[0]()
                self._pending.clear()
            return self._callable

    def prepare_for_serialization(self) -> None:
        """Called on a shallow copy that is to be pickled."""
        if self._stored is None:
            raise BypassAOTAutogradCache("a graph of backend neuron is not plain data")
        self._callable = None

    def post_compile(self, _example_inputs: Any, _constants: Any, _graph_kwargs: Any) -> None:
        """Called on what was unpickled. A raise makes torch compile anew."""
        restore = _restore.get()
        stored = self._stored
        assert stored is not None
        if restore is None:
            # Loads the compiler, which this module does without.
            from neuron_compile.warm_start.restore import restore_alone

            restore = restore_alone
        self._callable = restore(stored)
        if self._callable is None:
            raise BypassAOTAutogradCache(f"{stored.model} {stored.role} is not in the cache")

    def set_triton_bundle(self, _triton_bundle: Any) -> None:
        """There is none."""

    def __getstate__(self) -> dict[str, bytes]:
        if self._stored is None:
            raise BypassAOTAutogradCache("a graph of backend neuron is not plain data")
        if _restore.get() is None:
            self._compile_for_others()
        return {"stored": self._stored.encode()}

    def __setstate__(self, state: dict[str, bytes]) -> None:
        stored = StoredGraph.decode(state["stored"])
        self.__init__(stored)  # type: ignore[misc]

    def _compile_for_others(self) -> None:
        # Not within a compilation, the user saves a function, for processes that will find no graph
        # in it to compile: the artifact cache must have all of it by then.
        with self._lock:
            for compile_it in self._pending:
                compile_it()

    def __copy__(self) -> StorableCode:
        copied = StorableCode(self._stored)
        copied._pending, copied._lock = self._pending, self._lock
        copied._callable = self._callable
        return copied

    def __deepcopy__(self, _memo: dict[int, Any]) -> StorableCode:
        return copy.copy(self)
