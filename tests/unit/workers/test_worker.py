"""The worker's loop, over a socket in this process."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator, Mapping

import pytest

from neuron_compile.workers.channel import Channel, ClosedError
from neuron_compile.workers.error_codec import decode_error
from neuron_compile.workers.frames import Frame
from neuron_compile.workers.request import Progress, Request
from neuron_compile.workers.worker import serve


def echo(request: Request, progress: Progress) -> Mapping[str, bytes]:
    progress(2.0, "half way")
    return request.inputs


def fail(_request: Request, _progress: Progress) -> Mapping[str, bytes]:
    raise ZeroDivisionError("no")


loaded: list[str] = []


@pytest.fixture
def channel() -> Iterator[Channel]:
    ours, theirs = socket.socketpair()

    def run() -> None:
        try:
            serve(Channel(theirs), {"echo": echo, "fail": fail}, [lambda: loaded.append("all")])
        except ClosedError:
            theirs.close()

    loaded.clear()
    thread = threading.Thread(target=run)
    thread.start()
    channel = Channel(ours)
    yield channel
    channel.close()
    thread.join(30)
    assert not thread.is_alive(), "the loop outlives its channel"


def answers(channel: Channel, request: Request) -> list[Frame]:
    values = {**request.to_json(), "environment": {}}
    channel.send(Frame("request", values, request.inputs), seconds=5)
    found: list[Frame] = []
    while not found or found[-1].kind not in ("done", "failed", "stale"):
        frame = channel.receive(seconds=30)
        assert frame is not None
        found.append(frame)
    return found


def test_answer_is_announced_and_progress_reported(channel: Channel) -> None:
    frames = answers(channel, Request("echo", {"a": b"b"}))
    assert frames == [
        Frame("began"),
        Frame("progress", {"seconds": 2.0, "line": "half way"}),
        Frame("done", {}, {"a": b"b"}),
    ]


def test_failure_is_an_answer_and_the_next_request_is_served(channel: Channel) -> None:
    failed = answers(channel, Request("fail", {}))[-1]
    assert str(decode_error(failed.values)) == "ZeroDivisionError: no"
    assert "KeyError" in str(decode_error(answers(channel, Request("none", {}))[-1].values))
    assert answers(channel, Request("echo", {}))[-1].kind == "done"


def test_request_for_the_work_of_other_tools_is_refused(channel: Channel) -> None:
    assert answers(channel, Request("echo", {}, None, "other"))[-1] == Frame("stale")
    assert answers(channel, Request.to("echo", {}))[-1].kind == "done"
