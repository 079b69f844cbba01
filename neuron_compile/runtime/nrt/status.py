"""libnrt's status codes as errors that say what to do. Source: `nrt_status.h`."""

from __future__ import annotations

from typing import Final

from neuron_compile.errors import ExecutionError

SUCCESS: Final = 0
# The results are there and some are not numbers, which PyTorch does not call an error.
COMPLETED_WITH_NAN: Final = 1003

_AGAIN: Final = "run it again; if it happens again, the device may need a reset or replacement."
_BUSY: Final = "end the other process, or choose other cores with NEURON_RT_VISIBLE_CORES."

_MEANINGS: Final[dict[int, tuple[str, str, str]]] = {
    1: ("NRT_FAILURE", "the runtime failed without saying why", "see the runtime's own log."),
    2: (
        "NRT_INVALID",
        "the NEFF, or the name or size of a tensor, is invalid",
        "compile again for the target that this machine is.",
    ),
    3: ("NRT_INVALID_HANDLE", "a handle is invalid", "report this; it is a defect of ours."),
    4: (
        "NRT_RESOURCE",
        "the device has no memory or other resource left",
        "use a smaller batch, or free other models on this core.",
    ),
    5: ("NRT_TIMEOUT", "the device did not finish in time", "raise NEURON_RT_EXEC_TIMEOUT."),
    6: ("NRT_HW_ERROR", "the hardware failed", _AGAIN),
    7: ("NRT_QUEUE_FULL", "too many executions are waiting", "call from fewer threads."),
    9: ("NRT_LOAD_NOT_ENOUGH_NC", "there are not enough free NeuronCores", _BUSY),
    10: (
        "NRT_UNSUPPORTED_NEFF_VERSION",
        "the NEFF is of a version that this runtime does not know",
        "update aws-neuronx-runtime-lib, or compile with the matching neuronx-cc.",
    ),
    11: ("NRT_FAIL_HOST_MEM_ALLOC", "the host has no memory left", "free memory."),
    13: ("NRT_UNINITIALIZED", "the runtime was not initialized", "report this; it is ours."),
    14: ("NRT_CLOSED", "the runtime is closed", "do not call compiled functions at exit."),
    15: ("NRT_QUEUE_EMPTY", "a queue is empty", "report this; it is a defect of ours."),
    101: ("NRT_EXEC_UNIT_UNRECOVERABLE", "an execution unit cannot recover", _AGAIN),
    1002: ("NRT_EXEC_BAD_INPUT", "the inputs are invalid", "report this; it is ours."),
    1004: ("NRT_EXEC_COMPLETED_WITH_ERR", "the execution completed with errors", _AGAIN),
    1005: ("NRT_EXEC_NC_BUSY", "the NeuronCore is in use by another process", _BUSY),
    1006: (
        "NRT_EXEC_OOB",
        "an index is out of bounds",
        'check indices and labels; with options={"target": "host"} the error names them.',
    ),
    1100: ("NRT_COLL_PENDING", "a collective operation is still pending", _AGAIN),
    1200: ("NRT_EXEC_HW_ERR_COLLECTIVES", "a collective operation is stuck", _AGAIN),
    1201: ("NRT_EXEC_HW_ERR_HBM_UE", "device memory has an uncorrectable error", _AGAIN),
    1202: ("NRT_EXEC_HW_ERR_NC_UE", "on-chip memory has a parity error", _AGAIN),
    1203: ("NRT_EXEC_HW_ERR_DMA_ABORT", "a transfer engine aborted", _AGAIN),
    1204: ("NRT_EXEC_SW_NQ_OVERFLOW", "a notification queue overflowed", _AGAIN),
    1205: ("NRT_EXEC_HW_ERR_REPAIRABLE_HBM_UE", "device memory has a repairable error", _AGAIN),
    1206: ("NRT_NETWORK_PROXY_FAILURE", "the network between devices failed", _AGAIN),
}


class NrtError(ExecutionError):
    """A call of libnrt failed. `status` is its code, `function` the name of the call."""

    def __init__(self, function: str, status: int) -> None:
        name, meaning, hint = _MEANINGS.get(
            status, (f"status {status}", "the status is not documented", "update this package.")
        )
        self.function = function
        self.status = status
        super().__init__(
            f"the Neuron runtime failed in {function}: {name}", why=f"{meaning}.", hint=hint
        )


def check(function: str, status: int) -> None:
    """Raise `NrtError` for every status but success."""
    if status != SUCCESS:
        raise NrtError(function, status)
