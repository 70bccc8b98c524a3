# SPDX-License-Identifier: Apache-2.0
# KernelAttributes: attributes of a compiled kernel, defined in a table.

from cuda.bindings.cydriver cimport CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK
from cuda.core.module.records import AttributeValue


cdef extern from "cuda.h" nogil:
    cdef enum:
        CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES
        CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES
        CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES
        CU_FUNC_ATTRIBUTE_NUM_REGS
        CU_FUNC_ATTRIBUTE_PTX_VERSION
        CU_FUNC_ATTRIBUTE_BINARY_VERSION
        CU_FUNC_ATTRIBUTE_CACHE_MODE_CA
        CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT
        CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET
        CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH
        CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT
        CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH
        CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED
        CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE

cdef int FOLLOW_CURRENT_DEVICE = -1

# name: (number, is a bool, is settable, description)
cdef dict KERNEL_ATTRIBUTES = {
    "max_threads_per_block": (
        CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, False, False,
        "Maximum number of threads per block."),
    "shared_size_bytes": (
        CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, False, False,
        "Static shared memory per block in bytes."),
    "const_size_bytes": (
        CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, False, False,
        "Constant memory that the kernel's source declares, in bytes."),
    "local_size_bytes": (
        CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, False, False, "Local memory per thread in bytes."),
    "num_regs": (CU_FUNC_ATTRIBUTE_NUM_REGS, False, False, "Number of registers per thread."),
    "ptx_version": (
        CU_FUNC_ATTRIBUTE_PTX_VERSION, False, False,
        "Architecture of the kernel's PTX: 10 * major + minor."),
    "binary_version": (
        CU_FUNC_ATTRIBUTE_BINARY_VERSION, False, False,
        "Architecture of the machine code: 10 * major + minor."),
    "cache_mode_ca": (
        CU_FUNC_ATTRIBUTE_CACHE_MODE_CA, True, False,
        "Whether global loads are cached at all levels."),
    "max_dynamic_shared_size_bytes": (
        CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, False, True,
        "Limit of dynamic shared memory per block in bytes; `launch` raises it if needed."),
    "preferred_shared_memory_carveout": (
        CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, False, True,
        "Preferred part of the L1 cache used as shared memory in percent; -1 is the default."),
    "cluster_size_must_be_set": (
        CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET, True, False,
        "Whether the kernel can only be launched with a cluster size."),
    "required_cluster_width": (
        CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, False, True,
        "Number of blocks of a cluster in x; 0 if the launch sets it."),
    "required_cluster_height": (
        CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT, False, True,
        "Number of blocks of a cluster in y; 0 if the launch sets it."),
    "required_cluster_depth": (
        CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH, False, True,
        "Number of blocks of a cluster in z; 0 if the launch sets it."),
    "non_portable_cluster_size_allowed": (
        CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, True, True,
        "Whether clusters may exceed the size that all devices of the architecture support."),
    "cluster_scheduling_policy_preference": (
        CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE, False, True,
        "Scheduling policy of the blocks of clusters, a ``CUclusterSchedulingPolicy``."),
}


cdef class _KernelAttributes:
    cdef initialized_kernel native
    cdef int device   # ordinal, or FOLLOW_CURRENT_DEVICE
    cdef dict cache   # values of read-only attributes by (ordinal, number); all views share it

    cdef int ordinal(self) except -1:
        return current_device().ordinal if self.device == FOLLOW_CURRENT_DEVICE else self.device

    cdef int get(self, int number, bint is_settable) except? -1:
        cdef int ordinal = self.ordinal()
        cdef int value
        cdef CUkernel kernel = self.native.get(self).raw()
        cached = self.cache.get((ordinal, number))
        if cached is not None:
            return cached
        with nogil:  # the first query may load the kernel
            call(driver.cuKernelGetAttribute, &value, <CUfunction_attribute>number,
                 kernel, ordinal)
        if not is_settable:  # another thread or `launch` may change a settable value
            self.cache[ordinal, number] = value
        return value

    cdef int set(self, int number, int value) except -1:
        cdef int ordinal = self.ordinal()
        cdef CUkernel kernel = self.native.get(self).raw()
        with nogil:
            call(driver.cuKernelSetAttribute, <CUfunction_attribute>number, value, kernel, ordinal)
        self.native.get(self).facts().plan.get().invalidate_shared_memory(ordinal)


class KernelAttributes(_KernelAttributes):
    """Resource use and launch settings of a compiled kernel on the current device.

    `Kernel.attributes` returns it; ``attributes[device]`` is the view of another device. Read-only
    attributes are queried once per device.
    """

    __slots__ = ()

    def __new__(cls, *args, **kwargs):
        raise RuntimeError("KernelAttributes cannot be instantiated directly. Please use Kernel "
                           "APIs. It comes from Kernel.attributes.")

    def __getitem__(self, device):
        """Return the view of a `Device` or an ordinal. Host only."""
        cdef _KernelAttributes base = self
        return make_attributes(base.native.get(base), as_device(device).ordinal, base.cache)

    def __repr__(self):
        values = ", ".join([f"{name}={getattr(self, name)}" for name in KERNEL_ATTRIBUTES])
        return f"KernelAttributes({values})"


cdef object make_attributes(const kernel_handle& native, int device, dict cache):
    cdef _KernelAttributes attributes = _KernelAttributes.__new__(KernelAttributes)
    attributes.native.set(native)
    attributes.device = device
    attributes.cache = cache
    return attributes


def attribute_property(name, number, is_boolean, is_settable, text):
    def get(self):
        value = (<_KernelAttributes?>self).get(number, is_settable)
        return bool(value) if is_boolean else AttributeValue(value, self, name)

    def set(self, value):
        value = bool(value) if is_boolean else int_option(f"KernelAttributes.{name}", value)
        (<_KernelAttributes?>self).set(number, value)

    return property(get, set if is_settable else None, doc=f"{text} Host only.")


for _name, _row in KERNEL_ATTRIBUTES.items():
    setattr(KernelAttributes, _name, attribute_property(_name, *_row))
del _name, _row
