# SPDX-License-Identifier: Apache-2.0
"""Values that are asked for by the number of a field, many in one call."""

from cuda.core.system._numbers import integer
from cuda.core.system._nvml_context import nvml

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cuda.core.system.typing import FieldId

# By nvmlValueType_t.
_MEMBERS = ("d_val", "ui_val", "ul_val", "ull_val", "sll_val", "si_val", "us_val")


def as_list(field_ids):
    """The fields that are asked for, as the low layer takes them."""
    if isinstance(field_ids, (str, bytes)) or not hasattr(field_ids, "__iter__"):
        raise TypeError(
            "field_ids must be a list of field IDs or of tuples (field ID, scope ID), got "
            f"{type(field_ids).__name__}"
        )
    return [tuple(map(int, each)) if isinstance(each, tuple) else each for each in field_ids]


class FieldValue:
    """One field as it was at one moment."""

    __slots__ = ("_data",)

    def __init__(self, data):
        self._data = data

    @property
    def field_id(self) -> "FieldId":
        """The field. Host only."""
        return nvml.FieldId(self._data.field_id)

    @property
    def scope_id(self) -> int:
        """Which of several things the field was asked of, for instance a link. Host only."""
        return self._data.scope_id

    @property
    def timestamp(self) -> int:
        """When it was read, in microseconds since the beginning of 1970. Host only."""
        return self._data.timestamp

    @property
    def latency_usec(self) -> int:
        """How long reading took, in microseconds. Host only."""
        return self._data.latency_usec

    @property
    def value(self) -> int | float:
        """The value. Host only.

        Raises
        ------
        NvmlError
            What NVML says of this field; NotSupportedError if the device does not have it.
        """
        nvml.check_status(self._data.nvml_return)
        kind = self._data.value_type
        if not 0 <= kind < len(_MEMBERS):
            raise RuntimeError(f"NVML gives a value of type {kind}, which is not known here")
        return getattr(self._data.value, _MEMBERS[kind])[0]

    def __repr__(self):
        failure = self._data.nvml_return
        what = f"status={failure}" if failure else f"value={self.value}"
        return f"<FieldValue {self._data.field_id} {what}>"


class FieldValues:
    """Several fields as they were at one moment: a sequence of `FieldValue`."""

    __slots__ = ("_data",)

    def __init__(self, data):
        self._data = data

    def __len__(self):
        return len(self._data)

    def __getitem__(self, idx: int) -> FieldValue:
        index = integer(idx, "an index")
        if not -len(self) <= index < len(self):
            raise IndexError("index is out of bounds")
        return FieldValue(self._data[index])

    def __iter__(self) -> "Iterator[FieldValue]":
        return (FieldValue(each) for each in self._data)

    def __repr__(self):
        return f"<FieldValues of {len(self)}>"

    def validate(self) -> None:
        """Raise the first error of a field, if there is one. Host only.

        Raises
        ------
        NvmlError
            What NVML says of that field.
        """
        for each in self._data:
            nvml.check_status(each.nvml_return)

    def get_all_values(self) -> list[int | float]:
        """The values of all fields. Host only.

        Raises
        ------
        NvmlError
            What NVML says of the first field that it cannot give.
        """
        return [each.value for each in self]
