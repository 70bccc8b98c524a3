# SPDX-License-Identifier: Apache-2.0
"""The contract of every class that can be closed, one suite run for each of them."""

import gc
import weakref
from dataclasses import dataclass
from typing import Any

import pytest
from cuda.core import Device, Stream


@dataclass(frozen=True)
class Closable:
    """How to make one of a class, and what must refuse to work once it is closed."""

    make: Any
    uses: tuple  # functions of the object, each an operation on it or with it as argument
    closed_handle: Any = 0


def make_context():
    """A wrapper of a context that is not current, so that it may be closed."""
    from cuda.bindings import driver

    Device(0).set_current()
    context = Device(0).create_stream().context
    driver.cuCtxSetCurrent(0)
    return context


def stream_uses():
    return (
        lambda s: s.sync(),
        lambda s: s.record(),
        lambda s: s.record(Device().create_event()),
        lambda s: s.wait(Device().create_event()),
        lambda s: s.wait(Device().create_stream()),
        lambda s: Device().create_stream().wait(s),
        lambda s: Device().create_stream(s),
        lambda s: s.launch_host(print),
        lambda s: s.__cuda_stream__(),
        lambda s: s.__enter__(),
        lambda s: s.is_done,
        lambda s: s.is_nonblocking,
        lambda s: s.priority,
        lambda s: s.context,
        lambda s: s.resources,
        lambda s: s.device,
    )


def event_uses():
    return (
        lambda e: e.sync(),
        lambda e: e - e,
        lambda e: Device().create_event({"timing_enabled": True}) - e,
        lambda e: Device().create_stream().wait(e),
        lambda e: Device().create_stream().record(e),
        lambda e: e.__enter__(),
        lambda e: e.is_done,
        lambda e: e.is_timing_enabled,
        lambda e: e.is_blocking_sync,
        lambda e: e.is_ipc_enabled,
        lambda e: e.ipc_descriptor,
        lambda e: e.context,
        lambda e: e.device,
    )


def context_uses():
    return (
        lambda c: Device(0).set_current(c),
        lambda c: c.create_stream(),
        lambda c: Stream._init(ctx=c),
        lambda c: c.__enter__(),
        lambda c: c.is_green,
        lambda c: c.resources,
    )


CLASSES = {
    "Stream": Closable(lambda: Device().create_stream(), stream_uses()),
    "Event": Closable(lambda: Device().create_event(), event_uses()),
    "Context": Closable(make_context, context_uses(), closed_handle=None),
}


@pytest.fixture(params=CLASSES)
def name(request):
    return request.param


@pytest.fixture
def closable(name):
    return CLASSES[name]


@pytest.fixture
def thing(closable, device):
    thing = closable.make()
    yield thing
    thing.close()


def test_an_open_object_says_so(thing):
    assert thing.is_closed is False
    assert int(thing.handle) != 0


def test_close_twice_is_harmless(thing):
    thing.close()
    thing.close()
    assert thing.is_closed is True


def test_the_state_cannot_be_assigned(thing):
    with pytest.raises(AttributeError):
        thing.is_closed = True


def test_an_object_is_true_whatever_its_state(thing):
    assert thing
    thing.close()
    assert thing


def test_description_stays_usable_after_close(thing, name, closable):
    thing.close()
    assert repr(thing).startswith(f"<{name} handle=0x0")
    handle = thing.handle
    assert handle is None if closable.closed_handle is None else int(handle) == 0


def test_the_hash_does_not_change_by_closing(thing):
    before = hash(thing)
    members = {thing}
    thing.close()
    assert hash(thing) == before
    assert thing in members


def test_a_closed_object_equals_only_itself(closable, device):
    first, second = closable.make(), closable.make()
    first.close()
    second.close()
    assert first == first
    assert first != second


@pytest.mark.parametrize(
    ("closed_name", "use"),
    [(name, use) for name, closable in CLASSES.items() for use in closable.uses],
    ids=[f"{name}-{i}" for name, closable in CLASSES.items() for i in range(len(closable.uses))],
)
def test_operations_on_a_closed_object_are_refused(closed_name, use, device):
    thing = CLASSES[closed_name].make()
    thing.close()
    device.set_current()
    with pytest.raises(RuntimeError, match=f"{closed_name} has been closed"):
        use(thing)


def test_leaving_the_block_closes_it(closable, device):
    with closable.make() as thing:
        assert not thing.is_closed
    assert thing.is_closed


def test_an_exception_propagates_the_block(closable, device):
    with pytest.raises(KeyError), closable.make() as thing:
        raise KeyError
    assert thing.is_closed


def test_weak_references_work_and_die(closable, device):
    thing = closable.make()
    reference = weakref.ref(thing)
    by_key = weakref.WeakKeyDictionary({thing: 1})
    assert reference() is thing
    del thing
    gc.collect()
    assert reference() is None
    assert not by_key


def test_comparison_with_anything_else_is_false(thing):
    assert thing != thing.handle
    assert thing != 0
    assert thing.__eq__(object()) is NotImplemented


def test_objects_of_different_classes_are_never_equal(device):
    things = [closable.make() for closable in CLASSES.values()]
    device.set_current()
    assert all(a != b for a in things for b in things if a is not b)


def test_pickling_is_refused(thing):
    import pickle

    with pytest.raises(TypeError):
        pickle.dumps(thing)
