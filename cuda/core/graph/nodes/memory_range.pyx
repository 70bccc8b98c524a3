# SPDX-License-Identifier: Apache-2.0
# Operands of memset and memcpy nodes: Buffers, or addresses with an owner.


cdef struct memory_range:
    CUdeviceptr pointer
    size_t size        # size of a Buffer; SIZE_MAX for an address
    bint is_buffer


cdef memory_range range_of_operand(object operand, object owner, str name) except *:
    """Return the memory of an operand: a Buffer, or an address."""
    cdef memory_range memory
    if isinstance(operand, Buffer):
        if owner is not None:
            raise ValueError(f"{name}_owner cannot be used when {name} is a Buffer: the graph "
                             "retains its memory")
        check_open((<Buffer>operand).fields.is_open, "Buffer")
        memory.pointer = (<Buffer>operand).fields.pointer
        memory.size, memory.is_buffer = (<Buffer>operand).fields.size, True
        return memory
    if not PyIndex_Check(operand):
        raise TypeError(f"{name} must be a Buffer or an integer is required, the address; got "
                        f"{qualified_name(operand)}")
    memory.pointer, memory.size, memory.is_buffer = address_from(operand), SIZE_MAX, False
    return memory


cdef object owner_of_operand(object operand, object owner):
    """Return the owner of an operand's memory; None for an address without an owner."""
    if isinstance(operand, Buffer):
        # Converting a later argument may have closed the Buffer.
        check_open((<Buffer>operand).fields.is_open, "Buffer")
        return owner_for_graph(<Buffer>operand)
    return owner


cdef list present_owners(object first, object second):
    return [each for each in (first, second) if each is not None]


cdef int check_fits(memory_range memory, str name, object byte_count) except -1:
    if memory.is_buffer and byte_count > memory.size:
        raise ValueError(f"{name} is a Buffer of {memory.size} bytes, but the node accesses "
                         f"{byte_count} bytes")
    return 0
