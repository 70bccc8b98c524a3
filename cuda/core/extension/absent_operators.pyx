# SPDX-License-Identifier: Apache-2.0
# Items of objects that have none: other libraries have `kernel[grid, block]` and `buffer[0]`. The
# error names the call to use. Only the slot is set, so the classes have no further member.

cdef tuple ITEM_ADVICE = (
    (Buffer, "copy_to() copies its bytes into an array of the host, and StridedMemoryView gives it "
             "a shape"),
    (Kernel, "use launch(stream, LaunchConfig(grid=..., block=...), kernel, *args)"),
    (ObjectCode, "use get_kernel(name)"),
)
cdef mapping_slots[3] item_slots


cdef PyObject* refuse_item(PyObject* self, PyObject* key) except NULL:
    item_owner = <object>self
    for cls, advice in ITEM_ADVICE:
        if isinstance(item_owner, cls):
            raise TypeError(f"{type(item_owner).__name__!r} object is not subscriptable: {advice}")
    raise TypeError(f"{type(item_owner).__name__!r} object is not subscriptable")


cdef int refuse_assignment(PyObject* self, PyObject* key, PyObject* value) except -1:
    raise TypeError(f"{type(<object>self).__name__!r} object does not support item assignment or "
                    "deletion: copy_from() copies an array of the host, and fill() sets the bytes")


cdef int install_item_advice() except -1:
    for index, (cls, _) in enumerate(ITEM_ADVICE):
        item_slots[index].mp_subscript = refuse_item
        if cls is Buffer:
            item_slots[index].mp_ass_subscript = refuse_assignment
        (<mutable_type*><PyObject*>cls).tp_as_mapping = &item_slots[index]


install_item_advice()
