# SPDX-License-Identifier: Apache-2.0
"""Streams of other libraries: the protocol, and known types without it."""

import sys
import types

import pytest
from cuda.core import Buffer, Device, Stream
from cuda.core._core import Stream_accept
from cuda.core.typing import IsStreamType


def offering(result):
    """An object whose `__cuda_stream__` returns that result."""
    return type("Foreign", (), {"__cuda_stream__": lambda self: result})()


@pytest.mark.parametrize("result", [(0, 0x10), [0, 0x10]])
def test_a_sequence_of_version_and_address_is_wrapped(device, result):
    with device.create_stream(offering(result)) as stream:
        assert int(stream.handle) == 0x10


def test_an_object_without_the_protocol_is_refused(device):
    with pytest.raises(TypeError, match="does not have a '__cuda_stream__' attribute"):
        device.create_stream(object())


def test_an_attribute_in_place_of_a_method_is_deprecated(device):
    foreign = type("Old", (), {"__cuda_stream__": (0, 0x20)})()
    with pytest.warns(DeprecationWarning, match="must be implemented as a method") as caught:
        stream = device.create_stream(foreign)
    assert int(stream.handle) == 0x20
    assert caught[0].filename == __file__


@pytest.mark.parametrize("result", [0x10, (0,), (0, 1, 2), None])
def test_a_result_that_is_no_pair_is_refused(device, result):
    with pytest.raises(RuntimeError, match="must return a sequence with 2 elements"):
        device.create_stream(offering(result))


@pytest.mark.parametrize("version", [1, -1, "0"])
def test_another_version_is_refused(device, version):
    with pytest.raises(RuntimeError, match="must return 0 as the first element"):
        device.create_stream(offering((version, 0x10)))


@pytest.mark.parametrize("address", [-1, 2**64])
def test_an_address_has_64_bits(device, address):
    for call in (
        lambda: device.create_stream(offering((0, address))),
        lambda: Stream.from_handle(address),
        lambda: Buffer.from_handle(address, 4),
    ):
        with pytest.raises(
            OverflowError, match=f"^an address, or .* to {2**64 - 1}, got {address}$"
        ):
            call()


def test_exceptions_of_the_protocol_propagate(device):
    def fail(self):
        raise KeyError("closed")

    with pytest.raises(KeyError):
        device.create_stream(type("Broken", (), {"__cuda_stream__": fail})())


def test_streams_satisfy_the_typing_protocol(stream):
    assert isinstance(stream, IsStreamType)
    assert isinstance(offering((0, 0)), IsStreamType)
    assert not isinstance(object(), IsStreamType)


KNOWN = [
    ("cupy.cuda", "Stream", "ptr"),
    ("cupy.cuda", "ExternalStream", "ptr"),
    ("torch.cuda", "Stream", "cuda_stream"),
    ("torch", "Stream", "cuda_stream"),
]


@pytest.mark.parametrize(("library", "name", "attribute"), KNOWN)
def test_known_types_without_the_protocol_are_wrapped(
    device, library, name, attribute, monkeypatch
):
    cls = type(name, (), {attribute: 0x30})
    derived = type("Mine", (cls,), {})
    monkeypatch.setitem(sys.modules, library, types.SimpleNamespace(**{name: cls}))
    for stream_class in (cls, derived):
        with device.create_stream(stream_class()) as stream:
            assert int(stream.handle) == 0x30


@pytest.mark.parametrize(("library", "name", "attribute"), KNOWN)
def test_a_class_with_the_name_of_a_known_type_is_refused(
    device, library, name, attribute, monkeypatch
):
    """The driver would use any attribute of that name as a stream."""
    liar = type(name, (), {"__module__": library, attribute: 0x30})
    with pytest.raises(TypeError, match="does not have a '__cuda_stream__' attribute"):
        device.create_stream(liar())
    known = types.SimpleNamespace(**{name: type(name, (), {})})
    monkeypatch.setitem(sys.modules, library, known)
    with pytest.raises(TypeError, match="does not have a '__cuda_stream__' attribute"):
        device.create_stream(liar())


def test_no_library_is_imported_to_recognize_its_types(device):
    before = set(sys.modules)
    with pytest.raises(TypeError):
        device.create_stream(types.SimpleNamespace(ptr=1))
    assert not {"cupy", "torch"} & (set(sys.modules) - before)


class TestAccept:
    def test_a_stream_is_returned_unchanged(self, stream):
        assert Stream_accept(stream) is stream

    def test_a_foreign_stream_is_wrapped_without_a_warning(self, device, recwarn):
        accepted = Stream_accept(offering((0, 0x40)))
        assert type(accepted) is Stream
        assert int(accepted.handle) == 0x40
        assert not recwarn

    def test_none_is_refused_with_a_hint(self):
        text = r"stream is required and must not be None.*device\.default_stream"
        with pytest.raises(TypeError, match=text):
            Stream_accept(None)

    def test_other_types_are_refused_by_their_full_name(self):
        text = "Stream or GraphBuilder expected, got types.SimpleNamespace"
        with pytest.raises(TypeError, match=text):
            Stream_accept(types.SimpleNamespace())

    def test_a_closed_stream_is_refused(self, device):
        stream = device.create_stream()
        stream.close()
        with pytest.raises(RuntimeError, match="Stream has been closed"):
            Stream_accept(stream)


def test_a_subclass_is_a_stream(device):
    class Mine(Stream):
        """Streams may be subclassed."""

    with Mine._init() as stream:
        assert Stream_accept(stream) is stream
        Device().create_stream().wait(stream)
