# SPDX-License-Identifier: Apache-2.0
"""Device: identity, description, the current context, factories."""

import copy
import inspect
import pickle
import re
import weakref

import pytest
from cuda.bindings import driver
from cuda.core import CUDAError, Device, EventOptions, StreamOptions

NOT_INITIALIZED = (
    r"Device \d+ is not yet initialized, perhaps you forgot to call \.set_current\(\) first\?"
)


class Index:
    """An ordinal that is not an int."""

    def __init__(self, value):
        self.value = value

    def __index__(self):
        return self.value


class TestIdentity:
    def test_one_object_per_thread_and_ordinal(self, in_new_thread):
        device = Device(0)
        assert Device(0) is device
        other = in_new_thread(lambda: Device(0))
        assert other is not device
        assert other == device
        assert hash(other) == hash(device)

    def test_a_device_is_valid_on_any_thread(self, in_new_thread):
        device = Device(0)
        assert Device(device) is device
        assert in_new_thread(lambda: Device(device)) is device

    def test_the_default_is_the_device_of_the_current_context(self, device):
        assert Device() is device
        assert Device(None) is device
        assert Device(device_id=0) is device

    def test_without_a_current_context_the_default_is_device_0(self, in_new_thread):
        assert in_new_thread(lambda: Device().device_id) == 0

    @pytest.mark.parametrize("ordinal", [False, Index(0)], ids=["bool", "index"])
    def test_an_object_with_index_is_an_ordinal(self, ordinal):
        assert Device(ordinal) is Device(0)

    @pytest.mark.parametrize(
        ("ordinal", "error", "text"),
        [
            (-1, ValueError, "device_id must be >= 0"),
            (1000, ValueError, r"device_id must be within \[0, \d+\)"),
            (2**80, (ValueError, OverflowError), "device_id|too large"),
            ("0", TypeError, "device_id"),
            (0.0, TypeError, "device_id"),
        ],
    )
    def test_invalid_ordinals_are_refused(self, ordinal, error, text):
        with pytest.raises(error, match=text):
            Device(ordinal)

    def test_the_number_of_devices_is_no_ordinal(self):
        count = len(Device.get_all_devices())
        assert Device(count - 1).device_id == count - 1
        with pytest.raises(ValueError, match=rf"must be within \[0, {count}\), got {count}$"):
            Device(count)

    @pytest.mark.parametrize("arguments", [(0, 0), (0, 0, 0)])
    def test_more_than_one_argument_is_refused(self, arguments):
        with pytest.raises(TypeError):
            Device(*arguments)

    @pytest.mark.parametrize("keywords", [{"id": 0}, {"device_id": 0, "x": 1}])
    def test_unknown_keywords_are_refused(self, keywords):
        with pytest.raises(TypeError):
            Device(**keywords)

    def test_argument_and_keyword_together_are_refused(self):
        with pytest.raises(TypeError):
            Device(0, device_id=0)

    def test_new_returns_the_same_object(self):
        assert Device.__new__(Device, 0) is Device(0)

    def test_the_class_is_final(self):
        with pytest.raises(TypeError):
            type("Mine", (Device,), {})

    def test_there_is_no_instance_dict(self):
        with pytest.raises(AttributeError):
            Device(0).anything = 1

    def test_pickle_and_copy_return_the_object_of_the_thread(self, in_new_thread):
        device = Device(0)
        data = pickle.dumps(device)
        assert pickle.loads(data) is device
        assert copy.copy(device) is device
        assert copy.deepcopy(device) is device
        other = in_new_thread(lambda: pickle.loads(data))
        assert other == device
        assert other is not device

    def test_it_works_in_sets_and_weak_containers(self):
        device = Device(0)
        assert {device: 1}[Device(0)] == 1
        assert device in weakref.WeakSet([device])
        assert weakref.ref(device)() is device

    def test_it_equals_no_other_type(self):
        assert Device(0) != 0
        assert Device(0).__eq__(0) is NotImplemented

    def test_all_devices_come_in_order(self):
        devices = Device.get_all_devices()
        assert isinstance(devices, tuple)
        assert [int(each) for each in devices] == list(range(len(devices)))
        assert devices[0] is Device(0)

    def test_its_signature_can_be_inspected(self):
        assert str(inspect.signature(Device)) == "(device_id=None)"
        assert "ordinal" in Device.__doc__


class TestDescription:
    def test_numbers_and_names(self):
        device = Device(0)
        assert device.device_id == 0
        assert int(device) == 0
        assert range(5)[device] == 0
        assert isinstance(device.name, str)
        assert device.name
        assert re.fullmatch(r"<Device 0 \(.+\)>", repr(device))

    def test_the_uuid_is_grouped_hex(self):
        device = Device(0)
        assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", device.uuid)
        assert hash(device) == hash(device.uuid)
        error, uuid = driver.cuDeviceGetUuid(0)
        assert not error
        assert device.uuid.replace("-", "") == bytes(uuid.bytes).hex()

    def test_the_bus_id_has_twelve_characters(self):
        bus_id = Device(0).pci_bus_id
        assert len(bus_id) == 12
        assert re.fullmatch(r"[0-9A-Fa-f]{4}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9A-Fa-f]", bus_id)

    def test_the_compute_capability_compares_as_a_tuple(self):
        device = Device(0)
        capability = device.compute_capability
        assert capability == (capability.major, capability.minor)
        assert capability >= (5, 0)
        assert device.arch == f"{capability.major}{capability.minor}"
        assert device.compute_capability is capability
        assert pickle.loads(pickle.dumps(capability)) == capability

    def test_total_memory_is_in_bytes(self):
        error, total = driver.cuDeviceTotalMem(0)
        assert not error
        assert Device(0).total_memory == total > 1 << 20

    def test_memory_info_is_free_and_total(self, device):
        info = device.memory_info
        assert 0 < info.free <= info.total
        assert info == (info.free, info.total)

    def test_a_device_can_access_its_own_memory(self, device):
        assert device.can_access_peer(device) is True
        assert device.can_access_peer(0) is True
        assert device.can_access_peer(None) is True  # the current device

    @pytest.mark.parametrize(
        ("peer", "error"), [(-1, ValueError), (1000, ValueError), ("0", TypeError)]
    )
    def test_invalid_peers_are_refused(self, device, peer, error):
        with pytest.raises(error):
            device.can_access_peer(peer)


class TestInitialization:
    USES = (
        lambda d: d.context,
        lambda d: d.create_stream(),
        lambda d: d.create_event(),
        lambda d: d.sync(),
        lambda d: d.memory_info,
        lambda d: d.allocate(8, stream=d.default_stream),
    )

    @pytest.mark.parametrize("use", USES)
    def test_operations_that_require_a_context_report_it(self, use, in_new_thread):
        with pytest.raises(CUDAError, match=NOT_INITIALIZED):
            in_new_thread(lambda: use(Device(0)))

    def test_set_current_returns_none_and_can_be_repeated(self, in_new_thread):
        def use():
            device = Device(0)
            assert device.set_current() is None
            assert device.set_current() is None
            assert device.context is device.context
            return int(driver.cuCtxGetCurrent()[1]) == int(device.context.handle)

        assert in_new_thread(use)

    def test_construction_requires_no_context(self, in_new_thread):
        def use():
            _ = Device(0).name, Device(0).properties.warp_size, Device()
            return int(driver.cuCtxGetCurrent()[1])

        assert in_new_thread(use) == 0

    def test_a_context_that_others_set_current_is_adopted(self, device, in_new_thread):
        primary = int(device.context.handle)

        def use():
            driver.cuCtxSetCurrent(primary)
            other = Device()
            other.sync()
            return int(other.context.handle)

        assert in_new_thread(use) == primary

    def test_an_adopted_context_stays_after_the_others_release_it(self, device, in_new_thread):
        primary = int(device.context.handle)

        def use():
            driver.cuCtxSetCurrent(primary)
            other = Device()
            _ = other.context
            driver.cuCtxSetCurrent(0)
            other.sync()
            return int(driver.cuCtxGetCurrent()[1])

        assert in_new_thread(use) == 0

    def test_a_foreign_context_is_used_while_it_is_current(self, in_new_thread):
        def use():
            device = Device(0)
            error, raw = driver.cuCtxCreate(None, 0, 0)
            assert not error
            assert int(device.context.handle) == int(raw)
            stream = device.create_stream()
            assert int(stream.context.handle) == int(raw)
            stream.close()
            driver.cuCtxDestroy(raw)
            with pytest.raises(CUDAError, match=NOT_INITIALIZED):
                _ = device.context

        in_new_thread(use)


class TestSetCurrentWithContext:
    @pytest.fixture
    def foreign(self):
        """Another context of device 0, and its handle to destroy."""
        error, raw = driver.cuCtxCreate(None, 0, 0)
        assert not error
        yield raw
        driver.cuCtxDestroy(raw)

    def test_the_previous_context_is_returned_as_the_same_object(self, in_new_thread, foreign):
        def use():
            driver.cuCtxSetCurrent(foreign)
            device = Device(0)
            other = device.context
            device.set_current()
            primary = device.context
            assert device.set_current(other) is primary
            assert int(driver.cuCtxGetCurrent()[1]) == int(foreign)
            assert device.context is other
            assert device.set_current(primary) is other
            assert device.context is primary

        in_new_thread(use)

    def test_without_a_current_context_none_is_returned(self, device, in_new_thread):
        context = device.context

        def use():
            assert Device(0).set_current(context) is None
            return int(driver.cuCtxGetCurrent()[1])

        assert in_new_thread(use) == int(context.handle)

    def test_a_foreign_context_is_returned_as_a_wrapper(self, device, in_new_thread, foreign):
        context = device.context

        def use():
            driver.cuCtxSetCurrent(foreign)
            before = Device(0).set_current(context)
            assert int(before.handle) == int(foreign)
            before.close()

        in_new_thread(use)

    @pytest.mark.parametrize("wrong", [0, "context", object()])
    def test_another_type_is_refused_as_context(self, device, wrong):
        with pytest.raises(TypeError, match="Expected type Context"):
            device.set_current(wrong)


class TestFactories:
    def test_streams_are_created_in_the_context_of_the_device(self, device, in_new_thread):
        """Another current context stays current."""

        def use():
            own_device = Device(0)
            own_device.set_current()
            error, raw = driver.cuCtxCreate(None, 0, 0)
            assert not error
            with own_device.create_stream() as stream, own_device.create_event() as event:
                assert stream.context == own_device.context
                assert event.context == own_device.context
                own_device.sync()
            assert int(driver.cuCtxGetCurrent()[1]) == int(raw)
            driver.cuCtxDestroy(raw)

        in_new_thread(use)

    @pytest.mark.parametrize(
        "options",
        [None, StreamOptions(nonblocking=False), {"nonblocking": False}],
        ids=["defaults", "object", "dict"],
    )
    def test_stream_options_are_accepted_in_three_forms(self, device, options):
        with device.create_stream(options=options) as stream:
            assert stream.is_nonblocking is (options is None)

    def test_other_options_are_refused(self, device):
        text = "must be provided as an object of type StreamOptions or as a dict"
        with pytest.raises(TypeError, match=text):
            device.create_stream(options=EventOptions())
        with pytest.raises(TypeError):
            device.create_stream(options={"color": "red"})

    def test_object_and_options_exclude_each_other(self, device, stream):
        with pytest.raises(ValueError, match="together"):
            device.create_stream(stream, options=StreamOptions())

    @pytest.mark.parametrize(
        "options",
        [
            EventOptions(ipc_enabled=True),
            EventOptions(ipc_enabled=True, timing_enabled=True),
        ],
    )
    def test_events_for_other_processes_are_refused(self, device, options):
        with pytest.raises(
            TypeError, match=r"^IPC-enabled events must be bound; use Stream\.record"
        ):
            device.create_event(options)

    def test_the_default_stream_is_one_object(self, device):
        assert device.default_stream is device.default_stream
        assert int(device.default_stream.handle) == 1


def test_its_memory_resource_can_be_replaced_but_not_deleted(device):
    before = device.memory_resource
    with pytest.raises(AttributeError, match="property 'memory_resource' of .*Device"):
        del device.memory_resource
    assert device.memory_resource is before
