# SPDX-License-Identifier: Apache-2.0
"""The contract of every class that can be closed, run for each of them."""

import gc
import weakref
from dataclasses import dataclass
from typing import Any

import pytest
from cuda.core import Device, Stream


@dataclass(frozen=True)
class Closable:
    """A factory of a class, and operations that must be refused once the object is closed."""

    make: Any
    uses: tuple  # functions of the object: operations on it or with it as an argument
    closed_handle: Any = 0


def make_context():
    """Return a wrapper of a context that is not current, so that it can be closed."""
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
def closable_object(closable, device):
    closable_object = closable.make()
    yield closable_object
    closable_object.close()


def test_an_open_object_is_not_closed(closable_object):
    assert closable_object.is_closed is False
    assert int(closable_object.handle) != 0


def test_close_twice_is_harmless(closable_object):
    closable_object.close()
    closable_object.close()
    assert closable_object.is_closed is True


def test_the_state_cannot_be_assigned(closable_object):
    with pytest.raises(AttributeError):
        closable_object.is_closed = True


def test_an_object_is_truthy_in_any_state(closable_object):
    assert closable_object
    closable_object.close()
    assert closable_object


def test_description_stays_available_after_close(closable_object, name, closable):
    closable_object.close()
    assert repr(closable_object).startswith(f"<{name} handle=0x0")
    handle = closable_object.handle
    assert handle is None if closable.closed_handle is None else int(handle) == 0


def test_the_hash_is_unchanged_by_closing(closable_object):
    before = hash(closable_object)
    members = {closable_object}
    closable_object.close()
    assert hash(closable_object) == before
    assert closable_object in members


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
    closable_object = CLASSES[closed_name].make()
    closable_object.close()
    device.set_current()
    with pytest.raises(RuntimeError, match=f"{closed_name} has been closed"):
        use(closable_object)


def test_leaving_the_block_closes_it(closable, device):
    with closable.make() as closable_object:
        assert not closable_object.is_closed
    assert closable_object.is_closed


def test_an_exception_propagates_from_the_block(closable, device):
    with pytest.raises(KeyError), closable.make() as closable_object:
        raise KeyError
    assert closable_object.is_closed


def test_weak_references_work_and_die(closable, device):
    closable_object = closable.make()
    reference = weakref.ref(closable_object)
    by_key = weakref.WeakKeyDictionary({closable_object: 1})
    assert reference() is closable_object
    del closable_object
    gc.collect()
    assert reference() is None
    assert not by_key


def test_comparison_with_other_types_is_false(closable_object):
    assert closable_object != closable_object.handle
    assert closable_object != 0
    assert closable_object.__eq__(object()) is NotImplemented


def test_objects_of_different_classes_are_never_equal(device):
    objects = [closable.make() for closable in CLASSES.values()]
    device.set_current()
    assert all(a != b for a in objects for b in objects if a is not b)


def test_pickling_is_refused(closable_object):
    import pickle

    with pytest.raises(TypeError):
        pickle.dumps(closable_object)
