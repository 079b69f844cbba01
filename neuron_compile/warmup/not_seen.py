"""What a program did not do while its graphs were collected, and may do later."""

from __future__ import annotations

from collections.abc import Sequence

from neuron_compile.graph import GraphRole
from neuron_compile.warmup.job import Job

_ABSENT = {
    GraphRole.INFERENCE: "it was not called without gradients (under torch.no_grad(), as for "
    "evaluation)",
    GraphRole.FORWARD: "it was not called with gradients, as in training",
}


def not_seen(jobs: Sequence[Job]) -> list[str]:
    """Sentences about each model: the roles in which it was not met, and that it was met with
    inputs of one shape only, if so."""
    sentences = []
    for model, target in dict.fromkeys((job.model, job.target) for job in jobs):
        graphs = [job for job in jobs if (job.model, job.target) == (model, target)]
        roles = {role for job in graphs for role in job.roles}
        sentences += [
            f"{model}: {absence}." for role, absence in _ABSENT.items() if role not in roles
        ]
        if GraphRole.FORWARD in roles and GraphRole.BACKWARD not in roles:
            sentences.append(f"{model}: no gradient was asked for, so no backward graph was met.")
        shapes = {job.inputs for job in graphs if job.role is not GraphRole.BACKWARD}
        if len(shapes) == 1:
            sentences.append(
                f"{model}: its inputs had the same shapes at every call; others, such as those of "
                "a smaller last batch, are other graphs."
            )
    return sentences
