# SPDX-License-Identifier: Apache-2.0
"""Each struct of the raising libraries: all ways to create, read, set and copy it."""

import copy
import ctypes
import importlib
import inspect
import pickle
import re

import pytest

MODULES = {n: importlib.import_module(f"cuda.bindings.{n}") for n in ("nvml", "cufile", "cudla")}


def classes_of(module):
    members = inspect.getmembers(module, lambda v: isinstance(v, type) and hasattr(v, "from_ptr"))
    return [cls for name, cls in members if name == cls.__name__]


CLASSES = [cls for module in MODULES.values() for cls in classes_of(module)]
OF_EACH = pytest.mark.parametrize(
    "cls", CLASSES, ids=lambda cls: f"{cls.__module__.rpartition('.')[2]}.{cls.__name__}"
)


def size_of(cls):
    return len(bytes(cls()))


def filled(cls):
    """Create an object whose bytes are 1: none of its addresses is followed."""
    return cls.from_buffer(bytearray(b"\1" * size_of(cls)))


def is_array(cls):
    return "size" in inspect.signature(cls).parameters


def test_there_are_hundreds_of_them():
    assert len(CLASSES) > 150


@OF_EACH
def test_a_refused_value_is_reported_by_field_name_and_changes_nothing(cls):
    instance = cls()
    for name in instance.asdict():
        for wrong in (object(), 1.5j):
            message = rf"^{cls.__name__}\.{name}: "
            with pytest.raises((TypeError, ValueError), match=message):
                setattr(instance, name, wrong)
            with pytest.raises((TypeError, ValueError), match=message):
                cls(**{name: wrong})
        with pytest.raises(AttributeError, match=rf"^{cls.__name__}\.{name} cannot be deleted"):
            delattr(instance, name)
    assert not any(bytes(instance))


@OF_EACH
def test_a_read_only_struct_refuses_every_field(cls):
    struct = cls.from_buffer(bytes(size_of(cls)))
    for name, value in cls().asdict().items():
        with pytest.raises(ValueError, match=f"{cls.__name__} instance is read-only"):
            setattr(struct, name, value)


@OF_EACH
def test_contents_survive_every_kind_of_copy(cls):
    instance = filled(cls)
    copies = [
        instance.copy(),
        copy.copy(instance),
        copy.deepcopy(instance),
        cls.from_buffer(bytes(instance)),
    ]
    if not is_array(cls):
        copies.append(cls.from_ptr(instance.ptr))
    for other in copies:
        assert type(other) is cls and other.ptr != instance.ptr
        assert other == instance and bytes(other) == b"\1" * size_of(cls)
    assert pickle.loads(pickle.dumps(cls())) == cls() != instance


@OF_EACH
def test_a_view_at_an_address_shares_and_retains_the_memory(cls):
    instance = cls()
    view = cls.from_ptr(instance.ptr, owner=instance)
    assert view.ptr == instance.ptr == int(view)
    memoryview(instance)[0] = 7
    assert bytes(view)[0] == 7
    address = instance.ptr
    del instance
    cls()  # would reuse the memory of the first struct
    assert ctypes.string_at(address, 1) == bytes(view)[:1] == b"\7"


@OF_EACH
def test_wrong_lengths_are_refused(cls):
    for length in (size_of(cls) - 1, size_of(cls) + 1, 2 * size_of(cls)):
        if is_array(cls) and length % size_of(cls) == 0:
            assert len(cls.from_buffer(bytes(length))) == 2
            continue
        with pytest.raises(ValueError, match=rf"^{cls.__name__}\.from_buffer\(\) .*{length}"):
            cls.from_buffer(bytes(length))


def check_that_it_has_no_elements(struct):
    name = type(struct).__name__
    with pytest.raises(TypeError, match="no len"):
        len(struct)
    with pytest.raises(TypeError, match=f"^'{name}' object is not subscriptable$"):
        struct[0]
    with pytest.raises(
        TypeError, match=f"^elements of {name} cannot be assigned: it is one struct$"
    ):
        struct[0] = type(struct)()
    with pytest.raises(TypeError, match=f"^elements of {name} cannot be deleted$"):
        del struct[0]


@OF_EACH
def test_arrays_have_elements_and_columns(cls):
    if not is_array(cls):
        check_that_it_has_no_elements(cls())
        return
    array = cls(3)
    assert len(array) == len(list(array)) == 3 and len(bytes(array)) == 3 * size_of(cls)
    array[1] = filled(cls)
    assert bytes(array) == bytes(size_of(cls)) + b"\1" * size_of(cls) + bytes(size_of(cls))
    assert array[1] == filled(cls) == array[1:2] and array[0] == array[-1] == cls()
    with pytest.raises(IndexError, match="index 3 is out of bounds for 3 elements"):
        array[3]
    with pytest.raises(TypeError, match=f"^elements of {cls.__name__} cannot be deleted$"):
        del array[0]
    with pytest.raises(BufferError, match="^these structs are not contiguous; copy them$"):
        memoryview(array[::2])
    assert bytes(array[1::-1].copy()) == b"\1" * size_of(cls) + bytes(size_of(cls))


@OF_EACH
def test_numpy_has_the_same_layout(cls):
    numpy = pytest.importorskip("numpy")
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", cls.__name__).lower()
    dtype = getattr(MODULES[cls.__module__.rpartition(".")[2]], f"{name}_dtype", None)
    if dtype is None:
        pytest.skip("the name of its type is irregular; test_parity_numpy_structs has them all")
    assert dtype.itemsize == size_of(cls)
    data = numpy.frombuffer(bytearray(b"\1" * size_of(cls)), dtype=dtype)
    instance = cls.from_data(data)
    assert instance == filled(cls)
    assert instance.ptr == data.ctypes.data
    del data
    assert instance == filled(cls)
    frozen = cls.from_data(numpy.frombuffer(bytes(size_of(cls)), dtype=dtype))
    assert memoryview(frozen).readonly
    with pytest.raises(ValueError, match=rf"^{cls.__name__}\.from_data\(\) argument 'data': "):
        cls.from_data(numpy.zeros(4, dtype=dtype)[::2])
