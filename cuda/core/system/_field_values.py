# SPDX-License-Identifier: Apache-2.0
"""Values of NVML fields, many queried in one call."""

from cuda.core.system._numbers import integer
from cuda.core.system._nvml_context import nvml

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cuda.core.system.typing import FieldId

# Members of nvmlValue_t, indexed by nvmlValueType_t.
_MEMBERS = ("d_val", "ui_val", "ul_val", "ull_val", "sll_val", "si_val", "us_val")


def as_list(field_ids):
    """Return the requested fields in the form that the low layer accepts."""
    if isinstance(field_ids, (str, bytes)) or not hasattr(field_ids, "__iter__"):
        raise TypeError(
            "field_ids must be a list of field IDs or of tuples (field ID, scope ID), got "
            f"{type(field_ids).__name__}"
        )
    return [tuple(map(int, each)) if isinstance(each, tuple) else each for each in field_ids]


class FieldValue:
    """Value of a field at one moment."""

    __slots__ = ("_data",)

    def __init__(self, data):
        self._data = data

    @property
    def field_id(self) -> "FieldId":
        """The queried field. Host only."""
        return nvml.FieldId(self._data.field_id)

    @property
    def scope_id(self) -> int:
        """Scope of the field, for example the number of a link. Host only."""
        return self._data.scope_id

    @property
    def timestamp(self) -> int:
        """Time of the query in microseconds since the Unix epoch. Host only."""
        return self._data.timestamp

    @property
    def latency_usec(self) -> int:
        """Duration of the query in microseconds. Host only."""
        return self._data.latency_usec

    @property
    def value(self) -> int | float:
        """Value of the field. Host only.

        Raises
        ------
        NvmlError
            If NVML reports an error for this field; NotSupportedError if the device lacks it.
        """
        nvml.check_status(self._data.nvml_return)
        kind = self._data.value_type
        if not 0 <= kind < len(_MEMBERS):
            raise RuntimeError(f"NVML returned a value of unknown type {kind}")
        return getattr(self._data.value, _MEMBERS[kind])[0]

    def __repr__(self):
        failure = self._data.nvml_return
        state = f"status={failure}" if failure else f"value={self.value}"
        return f"<FieldValue {self._data.field_id} {state}>"


class FieldValues:
    """Values of several fields at one moment: a sequence of `FieldValue`."""

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
        """Raise the first error of a field, if any. Host only.

        Raises
        ------
        NvmlError
            If NVML reports an error for a field.
        """
        for each in self._data:
            nvml.check_status(each.nvml_return)

    def get_all_values(self) -> list[int | float]:
        """Return the values of all fields. Host only.

        Raises
        ------
        NvmlError
            If NVML reports an error for a field; the first error is raised.
        """
        return [each.value for each in self]
