"""Messages survive any cutting of the stream, and nothing else passes for one."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_compile.workers.frames import MAGIC, Frame, FrameError, FrameReader, encode_frame

FRAME = Frame("done", {"n": [1, None, "ü"]}, {"neff": b"\x00\xff" * 50, "empty": b""})


def encoded(frame: Frame = FRAME) -> bytes:
    return b"".join(encode_frame(frame))


@given(st.lists(st.integers(1, 40), min_size=1))
def test_two_messages_arrive_in_pieces_of_any_size(sizes: list[int]) -> None:
    stream = encoded() + encoded(Frame("began"))
    reader = FrameReader()
    found = []
    while stream:
        for size in sizes:
            reader.feed(stream[:size])
            stream = stream[size:]
            while (frame := reader.next_frame()) is not None:
                found.append(frame)
    assert found == [FRAME, Frame("began")]


def test_blobs_are_not_copied_for_sending() -> None:
    blob = bytes(1000)
    assert encode_frame(Frame("request", {}, {"a": blob}))[2] is blob


@given(st.data())
def test_flipped_byte_is_refused_or_waits_for_more(data: st.DataObject) -> None:
    stream = bytearray(encoded())
    place = data.draw(st.integers(0, len(stream) - 1))
    stream[place] ^= data.draw(st.integers(1, 255))
    reader = FrameReader()
    reader.feed(bytes(stream))
    try:
        frame = reader.next_frame()
    except FrameError:
        return
    # A length that grew: what follows is awaited, and judged by its checksum.
    assert frame is None


@pytest.mark.parametrize(
    "stream",
    [
        b"x",
        b"NCW2",
        b"I1130 pjrt_client.cc:579] PjRt\n",
        struct.pack("<4sII", MAGIC, 1 << 31, 0),
        struct.pack("<4sII", MAGIC, 2, 0) + b"{}",
        struct.pack("<4sII", MAGIC, 4, 0) + b"null",
    ],
)
def test_other_bytes_are_refused(stream: bytes) -> None:
    reader = FrameReader()
    reader.feed(stream)
    with pytest.raises(FrameError):
        reader.next_frame()


@given(st.binary(max_size=200))
def test_any_bytes_raise_nothing_else(stream: bytes) -> None:
    for prefix in (b"", MAGIC):
        reader = FrameReader()
        reader.feed(prefix + stream)
        try:
            assert reader.next_frame() is None
        except FrameError:
            continue
