# SPDX-License-Identifier: Apache-2.0
"""LaunchConfig: conversions, refusals, assignment, identity, deprecated spellings."""

import copy
import pickle
import weakref

import numpy as np
import pytest
from cuda.bindings import driver
from cuda.core import LaunchConfig
from cuda.core._launch_config import _to_native_launch_config

from ....ids import readable

LARGEST = 2**31 - 1


class Index:
    def __init__(self, value):
        self.value = value

    def __index__(self):
        return self.value


@pytest.mark.parametrize(
    ("extents", "stored"),
    [
        (5, (5, 1, 1)),
        ((5,), (5, 1, 1)),
        ((5, 6), (5, 6, 1)),
        ((5, 6, 7), (5, 6, 7)),
        ((), (1, 1, 1)),
        ([5, 6], (5, 6, 1)),
        (range(5, 7), (5, 6, 1)),
        (np.array([5, 6]), (5, 6, 1)),
        (np.array([5], np.uint8), (5, 1, 1)),
        (np.array(5), (5, 1, 1)),
        (memoryview(b"\x05\x06"), (5, 6, 1)),
        (np.int64(5), (5, 1, 1)),
        ((np.uint8(5), np.int32(6)), (5, 6, 1)),
        (Index(9), (9, 1, 1)),
        (True, (1, 1, 1)),
        (LARGEST, (LARGEST, 1, 1)),
    ],
    ids=readable,
)
@pytest.mark.parametrize("field", ["grid", "block"])
def test_extents_become_three_plain_ints(field, extents, stored):
    config = LaunchConfig(**{"grid": 1, "block": 1, field: extents})
    value = getattr(config, field)
    assert value == stored
    assert [type(extent) for extent in value] == [int, int, int]


@pytest.mark.parametrize(
    "value",
    [
        None,
        1.5,
        "1",
        b"12",
        (1, 2, 3, 4),
        (1, "a"),
        (1, 2.0),
        {1},
        {1: 2},
        np.float32(1),
        np.array([1.0, 2.0]),
        np.ones((2, 2), int),
        np.array(1.5),
        range(10**9),
    ],
    ids=repr,
)
@pytest.mark.parametrize("field", ["grid", "block"])
def test_an_invalid_extent_is_refused(field, value):
    match = rf"^LaunchConfig\.{field} must be an int, or a tuple with up to 3 ints"
    with pytest.raises(ValueError, match=match):
        LaunchConfig(**{"grid": 1, "block": 1, field: value})


@pytest.mark.parametrize("value", [0, -1, (1, 0), (1, 1, -5), -(10**30)], ids=repr)
@pytest.mark.parametrize("field", ["grid", "block"])
def test_extents_below_one_are_refused(field, value):
    noun = "values" if isinstance(value, tuple) else "value"
    with pytest.raises(ValueError, match=rf"^LaunchConfig\.{field} {noun} must be >= 1"):
        LaunchConfig(**{"grid": 1, "block": 1, field: value})


@pytest.mark.parametrize("value", [2**31, (1, 2**40), 10**30], ids=repr)
def test_extents_beyond_32_bits_are_refused(value):
    with pytest.raises(ValueError, match=r"^LaunchConfig\.grid value must be <= 2147483647"):
        LaunchConfig(grid=value, block=1)


def test_the_exception_of_an_index_propagates():
    class Broken:
        def __index__(self):
            raise LookupError("no index")

    with pytest.raises(LookupError):
        LaunchConfig(grid=Broken(), block=1)


@pytest.mark.parametrize("calls", [0, 1], ids=["first", "second"])
def test_the_exception_of_a_length_propagates(calls):
    class Broken:
        def __init__(self):
            self.calls = 0

        def __len__(self):
            self.calls += 1
            if self.calls > calls:
                raise LookupError("no length")
            return 1

        def __getitem__(self, position):
            return 1

    with pytest.raises(LookupError, match="no length"):
        LaunchConfig(grid=Broken(), block=1)


def test_grid_and_block_are_required():
    with pytest.raises(ValueError, match=r"LaunchConfig\.grid must be"):
        LaunchConfig(block=1)
    with pytest.raises(ValueError, match=r"LaunchConfig\.block must be"):
        LaunchConfig(grid=1)


def test_a_block_passed_as_cluster_is_reported():
    with pytest.raises(ValueError, match=r"block must be .*as block=; .* is cluster"):
        LaunchConfig((2, 2), (32, 1))


def test_the_defaults():
    config = LaunchConfig(grid=1, block=1)
    assert config.cluster is None
    assert config.shmem_size == 0
    assert config.is_cooperative is False
    assert config.programmatic_stream_serialization is False


def test_positional_arguments_follow_the_documented_order():
    config = LaunchConfig(2, None, 3, 4, False, True)
    assert (config.grid, config.cluster, config.block) == ((2, 1, 1), None, (3, 1, 1))
    assert (config.shmem_size, config.programmatic_stream_serialization) == (4, True)


@pytest.mark.parametrize(
    ("arguments", "keywords"),
    [
        ((1, None, 1, 0, False, False, 1), {}),
        ((1,), {"grid": 1, "block": 1}),
        ((), {"grid": 1, "block": 1, "blocks": 1}),
    ],
    ids=["too many", "doubled", "unknown"],
)
@pytest.mark.parametrize("subclass", [False, True])
def test_invalid_calls_are_type_errors(arguments, keywords, subclass):
    cls = type("Derived", (LaunchConfig,), {}) if subclass else LaunchConfig
    with pytest.raises(TypeError, match=r"LaunchConfig\(\)"):
        cls(*arguments, **keywords)


def test_keywords_that_are_not_interned_are_accepted():
    name = "".join(["gr", "id"])
    assert LaunchConfig(**{name: 3, "".join(["blo", "ck"]): 4}).grid == (3, 1, 1)


@pytest.mark.parametrize(
    ("value", "stored"), [(None, 0), (0, 0), (4096, 4096), (LARGEST, LARGEST), (np.int64(8), 8)]
)
def test_shared_memory_is_an_int(value, stored):
    assert LaunchConfig(grid=1, block=1, shmem_size=value).shmem_size == stored


@pytest.mark.parametrize(
    ("value", "error"),
    [
        ("1", TypeError),
        (1.7, TypeError),
        ((1,), TypeError),
        (2**31, OverflowError),
        (10**30, OverflowError),
        (-1, ValueError),
        (-(10**30), ValueError),
    ],
    ids=repr,
)
def test_invalid_shared_memory_is_refused(value, error):
    with pytest.raises(error, match=r"^LaunchConfig\.shmem_size must be"):
        LaunchConfig(grid=1, block=1, shmem_size=value)


def test_exceptions_of_an_index_propagate_unchanged():
    class Raises:
        def __index__(self):
            raise LookupError("no size")

    with pytest.raises(LookupError, match="no size"):
        LaunchConfig(grid=1, block=1, shmem_size=Raises())
    config = LaunchConfig(grid=1, block=1, shmem_size=8)
    with pytest.raises(LookupError, match="no size"):
        config.shmem_size = Raises()
    assert config.shmem_size == 8


def test_assignment_checks_like_the_constructor():
    config = LaunchConfig(grid=1, block=1)
    config.grid = [4, 5]
    config.block = 32
    config.shmem_size = 128
    config.programmatic_stream_serialization = 1
    assert config == LaunchConfig((4, 5), None, 32, 128, False, True)
    for field, value, error in [
        ("grid", 0, ValueError),
        ("block", None, ValueError),
        ("cluster", (1, 2, 3, 4), ValueError),
        ("shmem_size", "a", TypeError),
    ]:
        with pytest.raises(error):
            setattr(config, field, value)
    assert config == LaunchConfig((4, 5), None, 32, 128, False, True)


def test_unknown_attributes_are_refused():
    with pytest.raises(AttributeError):
        LaunchConfig(grid=1, block=1).blocks = 3


FIELDS = "grid cluster block shmem_size is_cooperative programmatic_stream_serialization"


@pytest.mark.parametrize("field", [*FIELDS.split(), "cooperative_launch"])
def test_no_field_can_be_deleted(field):
    config = LaunchConfig(grid=4, block=2)
    with pytest.raises(AttributeError, match=f"property '{field}' of .*LaunchConfig"):
        delattr(config, field)
    assert config == LaunchConfig(grid=4, block=2)


def test_equality_hash_and_repr_are_by_value():
    first, second = LaunchConfig(grid=1, block=(2, 3)), LaunchConfig(grid=(1,), block=[2, 3])
    assert first == second and hash(first) == hash(second)
    assert first != LaunchConfig(grid=2, block=(2, 3))
    assert first != "LaunchConfig" and first != (1, 1, 1)
    assert repr(first) == (
        "LaunchConfig(grid=(1, 1, 1), cluster=None, block=(2, 3, 1), shmem_size=0, "
        "is_cooperative=False, programmatic_stream_serialization=False)"
    )


@pytest.mark.parametrize(
    "make_copy", [copy.copy, copy.deepcopy, lambda c: pickle.loads(pickle.dumps(c))]
)
def test_a_copy_is_equal_and_independent(make_copy):
    config = LaunchConfig(grid=(1, 2, 3), block=4, shmem_size=5)
    other = make_copy(config)
    assert other == config
    other.grid = 9
    assert config.grid == (1, 2, 3)


def test_weak_references_work():
    config = LaunchConfig(grid=1, block=1)
    assert weakref.ref(config)() is config


def test_a_subclass_may_add_fields():
    class Named(LaunchConfig):
        def __init__(self, name, **keywords):
            super().__init__(**keywords)
            self.name = name

    config = Named("small", grid=2, block=3)
    assert (config.name, config.grid, config.block) == ("small", (2, 1, 1), (3, 1, 1))


def test_an_uninitialized_object_cannot_be_launched_with(stream):
    from cuda.core import launch

    with pytest.raises(TypeError):
        launch(stream, LaunchConfig.__new__(LaunchConfig), None)


def test_the_deprecated_spelling_of_cooperative(device):
    with pytest.warns(DeprecationWarning, match="is_cooperative"):
        config = LaunchConfig(grid=1, block=1, cooperative_launch=True)
    assert config.is_cooperative is True
    with pytest.warns(DeprecationWarning, match="is_cooperative"):
        assert config.cooperative_launch is True
    with pytest.warns(DeprecationWarning, match="is_cooperative"):
        config.cooperative_launch = False
    assert config.is_cooperative is False


def test_both_spellings_of_cooperative_are_refused():
    with pytest.raises(TypeError, match="cooperative_launch"):
        LaunchConfig(grid=1, block=1, is_cooperative=True, cooperative_launch=True)


@pytest.mark.parametrize("subclass", [False, True])
def test_a_stream_is_an_argument_of_launch(subclass):
    cls = type("Derived", (LaunchConfig,), {}) if subclass else LaunchConfig
    with pytest.raises(TypeError, match=r"pass it to launch\(stream, config, kernel"):
        cls(grid=1, block=1, stream=None)


def test_clusters_multiply_the_grid(device):
    config = LaunchConfig(grid=(4, 3), cluster=(2, 5), block=32)
    assert (config.grid, config.cluster) == ((4, 3, 1), (2, 5, 1))
    native = _to_native_launch_config(config)
    assert (native.gridDimX, native.gridDimY, native.gridDimZ) == (8, 15, 1)


def test_clusters_that_overflow_the_grid_are_refused(device):
    with pytest.raises(ValueError, match="grid times cluster"):
        LaunchConfig(grid=2**30, cluster=4, block=1)


def test_a_cluster_can_be_reset(device):
    config = LaunchConfig(grid=4, cluster=2, block=32)
    config.cluster = None
    assert config.cluster is None
    assert _to_native_launch_config(config).gridDimX == 4


def test_the_native_form_has_the_attributes_in_order(device):
    config = LaunchConfig(4, 2, 32, 64, True, True)
    native = _to_native_launch_config(config)
    assert type(native) is driver.CUlaunchConfig
    assert (native.blockDimX, native.blockDimY, native.blockDimZ) == (32, 1, 1)
    assert native.sharedMemBytes == 64
    assert native.numAttrs == 3
    ids = driver.CUlaunchAttributeID
    assert [attribute.id for attribute in native.attrs] == [
        ids.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
        ids.CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
        ids.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
    ]
    cluster, cooperative, programmatic = (attribute.value for attribute in native.attrs)
    assert (cluster.clusterDim.x, cluster.clusterDim.y, cluster.clusterDim.z) == (2, 1, 1)
    assert cooperative.cooperative == 1
    assert programmatic.programmaticStreamSerializationAllowed == 1


def test_the_native_form_of_a_plain_launch_has_no_attributes():
    native = _to_native_launch_config(LaunchConfig(grid=1, block=1))
    assert native.numAttrs == 0 and native.attrs == []


NO_DRIVER = """
from cuda.core import LaunchConfig
config = LaunchConfig(grid=(2, 3), block=4, shmem_size=8)
config.grid = 5
print(config.grid, LaunchConfig(grid=1, block=1, cluster=2, is_cooperative=True).cluster)
"""


def test_no_driver_is_required(run_python, tmp_path):
    missing = str(tmp_path / "nothing.so")
    output = run_python(NO_DRIVER, HALFWARP_BACKEND="driver", LD_LIBRARY_PATH=missing)
    assert output == "(5, 1, 1) (2, 1, 1)\n"


def test_a_device_without_clusters_is_reported(run_python):
    code = (
        "from cuda.core import CUDAError, Device, LaunchConfig\n"
        "Device().set_current()\n"
        "try: LaunchConfig(grid=1, block=1, cluster=2)\n"
        "except CUDAError as error: print(error)\n"
    )
    output = run_python(code, HALFWARP_BACKEND="emulator", HALFWARP_EMULATOR_CC="8.0")
    assert "not supported on devices with compute capability < 9.0; device 0 has 8.x" in output


LATE_CHECK = """
from cuda.core import CUDAError, Device, LaunchConfig, ObjectCode, launch
early = LaunchConfig(grid=2, block=1, cluster=2)  # without a context there is no device to ask
device = Device()
device.set_current()
text = b".version 7.0\\n.target sm_70\\n.address_size 64\\n.visible .entry nothing() { ret; }"
kernel = ObjectCode.from_ptx(text).get_kernel("nothing")
stream = device.create_stream()
for _ in range(2):
    try: launch(stream, early, kernel)
    except CUDAError as error: print(error)
"""


def test_a_launch_checks_a_config_that_is_older_than_the_device(run_python):
    output = run_python(LATE_CHECK, HALFWARP_BACKEND="emulator", HALFWARP_EMULATOR_CC="8.0")
    assert output.count("devices with compute capability < 9.0; device 0 has 8.x") == 2


class Extents:
    """A sequence that reports one length and has another."""

    def __init__(self, length, items):
        self.length, self.items, self.reads = length, items, 0

    def __len__(self):
        return self.length

    def __getitem__(self, at):
        self.reads += 1
        return self.items[at]


@pytest.mark.parametrize("field", ["grid", "cluster", "block"])
@pytest.mark.parametrize(
    ("length", "items", "reads"),
    [(4, (1,), 0), (2**62, (1,), 0), (3, (1, 1, 1, 1), 5), (1, (1,) * 9, 10)],
)
def test_a_sequence_of_more_than_three_extents_is_refused(field, length, items, reads):
    """A long one is refused unread."""
    extents = Extents(length, items)
    with pytest.raises(ValueError, match=rf"LaunchConfig.{field} must be .* up to 3 ints"):
        LaunchConfig(**{"grid": 1, "block": 1, field: extents})
    assert extents.reads == reads
