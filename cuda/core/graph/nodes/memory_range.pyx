# SPDX-License-Identifier: Apache-2.0
# Operands of memset and memcpy nodes: Buffers, or addresses with an owner.


cdef struct memory_range:
    CUdeviceptr pointer
    size_t size        # of a Buffer; else the largest number
    bint is_buffer


cdef memory_range range_of(object given, object owner, str name) except *:
    """The memory that an operand stands for: a Buffer, or an address."""
    cdef memory_range found
    if isinstance(given, Buffer):
        if owner is not None:
            raise ValueError(f"{name}_owner cannot be used when {name} is a Buffer: the graph "
                             "keeps its memory")
        check_open((<Buffer>given).fields.is_open, "Buffer")
        found.pointer = (<Buffer>given).fields.pointer
        found.size, found.is_buffer = (<Buffer>given).fields.size, True
        return found
    if not PyIndex_Check(given):
        raise TypeError(f"{name} must be a Buffer or an integer is required, the address; got "
                        f"{qualified_name(given)}")
    found.pointer, found.size, found.is_buffer = address_from(given), SIZE_MAX, False
    return found


cdef object object_to_keep(object given, object owner):
    """What keeps the memory of an operand; None for an address without an owner."""
    if isinstance(given, Buffer):
        check_open((<Buffer>given).fields.is_open, "Buffer")  # a later argument may have closed it
        return memory_to_keep(<Buffer>given)
    return owner


cdef list objects_to_keep(object first, object second):
    return [each for each in (first, second) if each is not None]


cdef int check_fits(memory_range memory, str name, object needed) except -1:
    if memory.is_buffer and needed > memory.size:
        raise ValueError(f"{name} is a Buffer of {memory.size} bytes, and the node would use "
                         f"{needed} of it")
    return 0
