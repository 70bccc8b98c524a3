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
            raise_owner_of_buffer(name)
        check_open((<Buffer>operand).fields.is_open, "Buffer")
        memory.pointer = (<Buffer>operand).fields.pointer
        memory.size, memory.is_buffer = (<Buffer>operand).fields.size, True
        return memory
    if isinstance(owner, Buffer):
        check_open((<Buffer>owner).fields.is_open, "Buffer")
    address = integer_or_none(operand)
    if address is None:
        raise TypeError(f"{name} must be a Buffer or an address, an int; got "
                        f"{qualified_name(operand)}")
    memory.pointer = address_option(name, "a node", address)
    memory.size, memory.is_buffer = SIZE_MAX, False
    return memory


cdef object owner_of_operand(object operand, object owner):
    """Return the owner of an operand's memory; None for an address without an owner.

    For a Buffer this is the owner of its memory: closing the Buffer does not free it.
    """
    if isinstance(operand, Buffer):
        owner = operand
    if not isinstance(owner, Buffer):
        return owner
    # Converting a later argument may have closed the Buffer.
    check_open((<Buffer>owner).fields.is_open, "Buffer")
    return owner_for_graph(<Buffer>owner)


cdef void check_updated_owner(str name, object operand, object owner) except *:
    """Raise ValueError unless an update passes an owner with the address that it owns."""
    if owner is None:
        return
    if operand is None:
        raise ValueError(f"{name}_owner requires {name}: pass the address that it owns")
    if isinstance(operand, Buffer):
        raise_owner_of_buffer(name)


cdef int raise_owner_of_buffer(str name) except -1:
    raise ValueError(f"{name}_owner cannot be used when {name} is a Buffer: the graph retains its "
                     "memory")


cdef list present_owners(object first, object second):
    return [each for each in (first, second) if each is not None]


cdef int explain_pitch(object error, str name, object pitch, object row, object rows) except -1:
    """Name the rule in the error of a driver that refused rows, which it reports as a status."""
    if rows > 1 and pitch < row:
        explain_error(error, f"{name} is {pitch} bytes, but a row has {row}: it must not be less "
                             "than a row")


cdef int check_fits(memory_range memory, str name, object byte_count) except -1:
    if memory.is_buffer and byte_count > memory.size:
        raise ValueError(f"{name} is a Buffer of {memory.size} bytes, but the node accesses "
                         f"{byte_count} bytes")
