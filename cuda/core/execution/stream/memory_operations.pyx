# SPDX-License-Identifier: Apache-2.0
# What a stream does with single values in memory: writing, waiting, reductions, barriers.

from cuda.bindings.cydriver cimport (
    CU_STREAM_ATOMIC_REDUCTION_OP_ADD,
    CU_STREAM_ATOMIC_REDUCTION_OP_AND,
    CU_STREAM_ATOMIC_REDUCTION_OP_OR,
    CU_STREAM_ATOMIC_REDUCTION_UNSIGNED_32,
    CU_STREAM_ATOMIC_REDUCTION_UNSIGNED_64,
    CU_STREAM_MEM_OP_ATOMIC_REDUCTION,
    CU_STREAM_MEM_OP_BARRIER,
    CU_STREAM_MEM_OP_WAIT_VALUE_32,
    CU_STREAM_MEM_OP_WAIT_VALUE_64,
    CU_STREAM_MEM_OP_WRITE_VALUE_32,
    CU_STREAM_MEM_OP_WRITE_VALUE_64,
    CUstreamAtomicReductionOpType,
    CUstreamBatchMemOpParams,
)
from libcpp.vector cimport vector

cdef tuple CONDITIONS = (">=", "==", "&", "nor")  # CUstreamWaitValue_flags
cdef dict REDUCTIONS = {
    "add": CU_STREAM_ATOMIC_REDUCTION_OP_ADD,
    "and": CU_STREAM_ATOMIC_REDUCTION_OP_AND,
    "or": CU_STREAM_ATOMIC_REDUCTION_OP_OR,
}
# How many arguments each needs, and what the others are unless they are given.
cdef dict OPERATIONS = {
    "write": (2, (32,)),
    "wait": (2, (">=", 32)),
    "reduce": (3, (32,)),
    "barrier": (0, ("system",)),
}
cdef tuple SCOPES = ("system", "device")  # CUstreamMemoryBarrier_flags


cdef object value_address(object target):
    """The address of a Buffer, which must be open, or of an int."""
    if isinstance(target, Buffer):
        return Buffer_as_cu(<Buffer>target)
    if isinstance(target, int) or hasattr(target, "__index__"):
        address = operator.index(target)
        if 0 < address < 2**64:
            return address
        raise ValueError(f"target must be an address from 1 to 2**64 - 1, got {address}")
    raise TypeError(f"target must be a Buffer or an address, got {qualified_name(target)}")


cdef object value_word(object value, object bits):
    """The number as the driver takes it; negative ones are two's complement."""
    if bits not in (32, 64):
        raise ValueError(f"bits must be 32 or 64, got {bits!r}")
    number = as_int("value", value)
    if not -(2**(bits - 1)) <= number < 2**bits:
        raise OverflowError(f"value {number} does not fit {bits} bits")
    return number % 2**bits


cdef object word_of_choice(str what, object given, object words):
    if given not in words:
        raise ValueError(f"{what} must be one of {', '.join(map(repr, words))}, got {given!r}")
    return given


cdef CUstreamBatchMemOpParams value_operation(bint waits, object target, object value,
                                              object bits, unsigned flags) except *:
    """Writes and waits have the same layout."""
    cdef CUstreamBatchMemOpParams made
    memset(&made, 0, sizeof(made))
    number = value_word(value, bits)
    if waits:
        made.waitValue.operation = (CU_STREAM_MEM_OP_WAIT_VALUE_32 if bits == 32
                                    else CU_STREAM_MEM_OP_WAIT_VALUE_64)
    else:
        made.waitValue.operation = (CU_STREAM_MEM_OP_WRITE_VALUE_32 if bits == 32
                                    else CU_STREAM_MEM_OP_WRITE_VALUE_64)
    made.waitValue.value64 = number
    made.waitValue.flags = flags
    made.waitValue.address = value_address(target)
    return made


cdef CUstreamBatchMemOpParams wait_of(object target, object value, object condition,
                                      object bits) except *:
    flags = CONDITIONS.index(word_of_choice("condition", condition, CONDITIONS))
    return value_operation(True, target, value, bits, flags)


cdef CUstreamBatchMemOpParams reduction_of(object how, object target, object value,
                                           object bits) except *:
    cdef CUstreamBatchMemOpParams made
    memset(&made, 0, sizeof(made))
    made.operation = CU_STREAM_MEM_OP_ATOMIC_REDUCTION
    made.atomicReduction.reductionOp = <CUstreamAtomicReductionOpType><int>REDUCTIONS[
        word_of_choice("operation", how, REDUCTIONS)]
    number = value_word(value, bits)
    made.atomicReduction.dataType = (CU_STREAM_ATOMIC_REDUCTION_UNSIGNED_32 if bits == 32
                                     else CU_STREAM_ATOMIC_REDUCTION_UNSIGNED_64)
    made.atomicReduction.value = number
    made.atomicReduction.address = value_address(target)
    return made


cdef CUstreamBatchMemOpParams barrier_of(object scope) except *:
    cdef CUstreamBatchMemOpParams made
    memset(&made, 0, sizeof(made))
    made.operation = CU_STREAM_MEM_OP_BARRIER
    made.memoryBarrier.flags = SCOPES.index(word_of_choice("scope", scope, SCOPES))
    return made


cdef CUstreamBatchMemOpParams operation_of(object row) except *:
    """One row of a batch: a word, then what the method of that name takes."""
    if not isinstance(row, tuple) or not row:
        raise TypeError("an operation is a tuple that begins with 'write', 'wait', 'reduce' or "
                        f"'barrier', got {row!r}")
    name = word_of_choice("the name of an operation", row[0], OPERATIONS)
    required, defaults = OPERATIONS[name]
    given = row[1:]
    if not required <= len(given) <= required + len(defaults):
        raise TypeError(f"a {name!r} operation has {required} to {required + len(defaults)} "
                        f"arguments, got {len(given)}")
    given += defaults[len(given) - required:]
    if name == "write":
        return value_operation(False, given[0], given[1], given[2], 0)
    if name == "wait":
        return wait_of(given[0], given[1], given[2], given[3])
    if name == "reduce":
        return reduction_of(given[0], given[1], given[2], given[3])
    return barrier_of(given[0])


cdef int raise_refused_values(CUresult code) except -1:
    if PyErr_Occurred() is not NULL or code != CUDA_ERROR_INVALID_VALUE:
        return raise_driver_error(code, "cuStreamBatchMemOp")
    error = driver_error(code, "cuStreamBatchMemOp")
    error.add_note("streams write and wait for values in page-locked memory, as of "
                   "LegacyPinnedMemoryResource, and in that of cuMemAlloc; not in memory of pools, "
                   "which Device.allocate gives, nor in managed memory")
    raise error


cdef int submit_values(Stream self, list rows) except -1:
    """The memory stays the caller's to keep; in a graph it is kept."""
    cdef vector[CUstreamBatchMemOpParams] all
    cdef CUresult code
    if not rows:
        return 0
    for row in rows:
        all.push_back(operation_of(row))
    cdef borrowed_stream stream = self.native.borrow_open(self)
    with nogil:
        code = try_call(driver.cuStreamBatchMemOp, stream.raw(), <unsigned>all.size(), all.data(),
                        0)
    if code != CUDA_SUCCESS:
        return raise_refused_values(code)
    if captures_under_way():
        keep_operands_in_capture(stream, tuple([each for row in rows for each in row]))
    return 0
