# SPDX-License-Identifier: Apache-2.0
# Stream operations on values in memory: writes, waits, reductions, barriers.

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
# Operation: (number of required arguments, defaults of the optional arguments).
cdef dict OPERATIONS = {
    "write": (2, (32,)),
    "wait": (2, (">=", 32)),
    "reduce": (3, (32,)),
    "barrier": (0, ("system",)),
}
cdef tuple SCOPES = ("system", "device")  # CUstreamMemoryBarrier_flags


cdef object value_target(object target):
    """Return an open Buffer as it is, or convert an address to an int."""
    if isinstance(target, Buffer):
        check_open((<Buffer>target).fields.is_open, "Buffer")
        return target
    if isinstance(target, int) or hasattr(target, "__index__"):
        address = operator.index(target)
        if 0 < address < 2**64:
            return address
        raise ValueError(f"target must be an address from 1 to 2**64 - 1, got {address}")
    raise TypeError(f"target must be a Buffer or an address, got {qualified_name(target)}")


cdef int set_address(CUstreamBatchMemOpParams* params, object target) except -1:
    """Set the address after all arguments of all operations were converted."""
    cdef CUdeviceptr address = 0
    if target is None:
        return 0
    address = open_memory_of(<Buffer>target).pointer if isinstance(target, Buffer) else target
    if params.operation == CU_STREAM_MEM_OP_ATOMIC_REDUCTION:
        params.atomicReduction.address = address
    else:
        params.waitValue.address = address


cdef object value_word(object value, object bits):
    """Convert a number to the driver's unsigned form; negative numbers to two's complement."""
    if bits not in (32, 64):
        raise ValueError(f"bits must be 32 or 64, got {shown(bits)}")
    number = as_int("value", value)
    if not -(2**(bits - 1)) <= number < 2**bits:
        raise OverflowError(f"value {number} does not fit {bits} bits")
    return number % 2**bits


cdef object check_choice(str name, object word, object words):
    if word not in words:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, words))}, got {shown(word)}")
    return word


cdef CUstreamBatchMemOpParams value_operation(bint waits, object value, object bits,
                                              unsigned flags) except *:
    """Build a write or a wait, which share one layout, without its address."""
    cdef CUstreamBatchMemOpParams params
    memset(&params, 0, sizeof(params))
    number = value_word(value, bits)
    if waits:
        params.waitValue.operation = (CU_STREAM_MEM_OP_WAIT_VALUE_32 if bits == 32
                                      else CU_STREAM_MEM_OP_WAIT_VALUE_64)
    else:
        params.waitValue.operation = (CU_STREAM_MEM_OP_WRITE_VALUE_32 if bits == 32
                                      else CU_STREAM_MEM_OP_WRITE_VALUE_64)
    params.waitValue.value64 = number
    params.waitValue.flags = flags
    return params


cdef CUstreamBatchMemOpParams build_wait(object value, object condition, object bits) except *:
    flags = CONDITIONS.index(check_choice("condition", condition, CONDITIONS))
    return value_operation(True, value, bits, flags)


cdef CUstreamBatchMemOpParams build_reduction(object operation, object value,
                                              object bits) except *:
    cdef CUstreamBatchMemOpParams params
    memset(&params, 0, sizeof(params))
    params.operation = CU_STREAM_MEM_OP_ATOMIC_REDUCTION
    params.atomicReduction.reductionOp = <CUstreamAtomicReductionOpType><int>REDUCTIONS[
        check_choice("operation", operation, REDUCTIONS)]
    number = value_word(value, bits)
    params.atomicReduction.dataType = (CU_STREAM_ATOMIC_REDUCTION_UNSIGNED_32 if bits == 32
                                       else CU_STREAM_ATOMIC_REDUCTION_UNSIGNED_64)
    params.atomicReduction.value = number
    return params


cdef CUstreamBatchMemOpParams build_barrier(object scope) except *:
    cdef CUstreamBatchMemOpParams params
    memset(&params, 0, sizeof(params))
    params.operation = CU_STREAM_MEM_OP_BARRIER
    params.memoryBarrier.flags = SCOPES.index(check_choice("scope", scope, SCOPES))
    return params


cdef CUstreamBatchMemOpParams build_operation(object row, list targets) except *:
    """Convert one row of a batch: the operation's name and the arguments of its method.

    Appends the target to `targets`; None for a barrier.
    """
    if not isinstance(row, tuple) or not row:
        raise TypeError("an operation is a tuple that begins with 'write', 'wait', 'reduce' or "
                        f"'barrier', got {shown(row)}")
    name = check_choice("the name of an operation", row[0], OPERATIONS)
    required, defaults = OPERATIONS[name]
    args = row[1:]
    if not required <= len(args) <= required + len(defaults):
        raise TypeError(f"a {name!r} operation has {required} to {required + len(defaults)} "
                        f"arguments, got {len(args)}")
    args += defaults[len(args) - required:]
    if name == "barrier":
        targets.append(None)
        return build_barrier(args[0])
    targets.append(value_target(args[1 if name == "reduce" else 0]))
    if name == "write":
        return value_operation(False, args[1], args[2], 0)
    if name == "wait":
        return build_wait(args[1], args[2], args[3])
    return build_reduction(args[0], args[2], args[3])


cdef int raise_refused_values(CUresult code) except -1:
    if PyErr_Occurred() is not NULL or code != CUDA_ERROR_INVALID_VALUE:
        return raise_driver_error(code, "cuStreamBatchMemOp")
    error = driver_error(code, "cuStreamBatchMemOp")
    error.add_note("streams write and wait for values in page-locked memory, such as from "
                   "LegacyPinnedMemoryResource, and in memory from cuMemAlloc; not in memory of "
                   "pools, which Device.allocate returns, and not in managed memory")
    raise error


cdef int submit_values(Stream self, list rows) except -1:
    """Submit a batch. The caller must keep the memory alive; a graph retains it."""
    cdef vector[CUstreamBatchMemOpParams] operations
    cdef CUresult code
    if not rows:
        return 0
    cdef list targets = []
    cdef size_t i
    for row in rows:
        operations.push_back(build_operation(row, targets))
    for i in range(operations.size()):
        set_address(&operations[i], targets[i])
    cdef borrowed_stream stream = self.native.borrow_open(self)
    with nogil:
        code = try_call(driver.cuStreamBatchMemOp, stream.raw(), <unsigned>operations.size(),
                        operations.data(), 0)
    if code != CUDA_SUCCESS:
        return raise_refused_values(code)
    if captures_under_way():
        retain_operands_in_capture(stream, tuple([each for row in rows for each in row]))
