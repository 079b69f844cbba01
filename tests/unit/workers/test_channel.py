"""A socket with frames: limits on every wait, and a dead other end is told from a silent one."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest

from neuron_compile.workers.channel import Channel, ClosedError
from neuron_compile.workers.frames import Frame, FrameError

Pair = tuple[Channel, Channel]


@pytest.fixture
def ends() -> Iterator[Pair]:
    ours, theirs = socket.socketpair()
    pair = (Channel(ours), Channel(theirs))
    yield pair
    for end in pair:
        end.close()


def test_message_goes_both_ways(ends: Pair) -> None:
    for sender, receiver in (ends, ends[::-1]):
        sender.send(Frame("a", {"n": 1}, {"b": b"c"}), seconds=5)
        assert receiver.receive(seconds=5) == Frame("a", {"n": 1}, {"b": b"c"})


def test_message_larger_than_the_sockets_buffers(ends: Pair) -> None:
    frame = Frame("a", {}, {"b": bytes(8_000_000)})
    sender = threading.Thread(target=ends[0].send, args=(frame,), kwargs={"seconds": 30})
    sender.start()
    assert ends[1].receive(seconds=30) == frame
    sender.join()


def test_silence_ends_with_the_time_limit(ends: Pair) -> None:
    assert ends[0].receive(seconds=0.01) is None
    assert not ends[0].has_data()


def test_reader_that_does_not_read_is_given_up(ends: Pair) -> None:
    with pytest.raises(TimeoutError):
        ends[0].send(Frame("a", {}, {"b": bytes(8_000_000)}), seconds=0.05)


def test_closed_end_is_noticed_when_reading_and_writing(ends: Pair) -> None:
    ends[1].close()
    assert ends[0].has_data()
    with pytest.raises(ClosedError):
        ends[0].receive(seconds=5)
    with pytest.raises(ClosedError):
        ends[0].send(Frame("a"), seconds=5)


def test_message_before_the_end_still_arrives(ends: Pair) -> None:
    ends[0].send(Frame("last words"), seconds=5)
    ends[0].close()
    assert ends[1].receive(seconds=5) == Frame("last words")


def test_garbage_is_refused() -> None:
    ours, theirs = socket.socketpair()
    channel = Channel(ours)
    theirs.sendall(b"garbage")
    with pytest.raises(FrameError, match="garbage"):
        channel.receive(seconds=5)
    theirs.close()
    channel.close()
