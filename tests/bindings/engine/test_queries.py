# SPDX-License-Identifier: Apache-2.0
"""Getters of properties in C: they read the slots of a class, and other attributes by name."""

import pytest
from cuda.bindings._low import property_getter


class Slotted:
    __slots__ = ("handle",)


class Derived(Slotted):
    pass


class Plain:
    pass


class Computed:
    @property
    def handle(self):
        return 7


class Record:
    __slots__ = ("data",)


def twice(value):
    return 2 * value


def getter(cls=None):
    """Return a getter of twice the handle, as an object of `cls` if there is one."""
    return property_getter(("handle", "twice", globals(), None, cls, "data", "documentation"))


def with_handle(cls, value):
    result = cls()
    result.handle = value
    return result


class TestSource:
    def test_objects_of_all_classes_are_read_by_one_getter(self):
        get = getter()
        objects = [with_handle(cls, i) for i, cls in enumerate((Slotted, Derived, Plain), start=1)]
        for _ in range(2):  # the first round finds the slot
            assert [get(each) for each in objects] == [2, 4, 6]
        assert get(Computed()) == 14

    @pytest.mark.parametrize("cls", [Slotted, Derived, Plain])
    def test_a_missing_handle_raises(self, cls):
        get = getter()
        assert get(with_handle(Slotted, 1)) == 2
        with pytest.raises(AttributeError, match="handle"):
            get(cls())

    def test_a_deleted_handle_raises(self):
        get, one = getter(), with_handle(Slotted, 1)
        assert get(one) == 2
        del one.handle
        with pytest.raises(AttributeError, match="handle"):
            get(one)

    def test_an_attribute_of_the_handle_is_read(self):
        get = property_getter(("handle", "real", "documentation"))
        assert get(with_handle(Slotted, 3)) == 3
        assert get(with_handle(Plain, 4)) == 4


class TestRecord:
    @pytest.mark.parametrize("cls", [Record, Plain])
    def test_the_value_is_in_the_target(self, cls):
        get = getter(cls)
        for value in (1, 2):
            record = get(with_handle(Slotted, value))
            assert type(record) is cls
            assert record.data == 2 * value
