# SPDX-License-Identifier: Apache-2.0
# Declarations of the launch path in cpp/python, and its driver types.

from cpython.object cimport PyObject
from libc.stdint cimport uint64_t

from cuda.bindings.cydriver cimport (
    CUlaunchAttribute,
    CUlaunchAttributeID,
    CUlaunchAttributeValue,
    CUlaunchConfig,
)


cdef extern from "python/objects.hpp" namespace "halfwarp::python" nogil:
    struct dimensions:
        unsigned x
        unsigned y
        unsigned z
    struct further_attributes:
        unsigned count
        int driver_version
        bint needs_priority_check
        CUlaunchAttribute[16] values
    struct config_fields:
        CUlaunchConfig native
        CUlaunchAttribute[3] attributes
        dimensions grid
        dimensions cluster
        bint is_cooperative
        bint programmatic_stream_serialization
        bint needs_device_check
        bint is_valid
        bint is_plain
        PyObject* further
    enum:
        most_attributes = 19


cdef extern from "python/objects.hpp" namespace "halfwarp::python":
    int register_further_class "halfwarp::python::register_class"(
        object, const further_attributes*) except -1
    int register_config_class "halfwarp::python::register_class"(object, const config_fields*) \
        except -1
    int register_kernel_class "halfwarp::python::register_class"(
        object, const initialized_kernel*) except -1


cdef extern from "python/launch/launch_config.hpp" namespace "halfwarp::python":
    enum config_argument:
        config_grid
        config_cluster
        config_block
        config_shmem_size
        config_is_cooperative
        config_programmatic
        config_cooperative_launch
        config_stream
        config_argument_count
    int configure(config_fields&, PyObject** values) except -1
    int assign(config_fields&, config_argument, object) except -1
    object dimensions_as_tuple(const dimensions&)
    struct config_hooks:
        PyObject* cuda_error
        PyObject* further_names
        int (*set_further)(object, object) except -1
        void (*raise_unknown)(object) except *
        void (*raise_too_old)(object, int) except *
    int install_config_constructor(object config_class, const config_hooks&) except -1
    int check_priority(const char* label, int priority) except -1
    unsigned gather_attributes(const config_fields&, PyObject*, CUlaunchAttribute*) noexcept nogil


cdef extern from "python/launch/launch.hpp" namespace "halfwarp::python":
    struct launch_hooks:
        object (*accept_stream)(object)
        void (*raise_failed_launch)(CUresult, const char*, object, object, const CUlaunchConfig*,
                                    CUdevice) except *
        int (*keep_captured_launch)(const stream_ref&, object, object) except -1
    object make_launch_function(const launch_hooks&)


cdef extern from "python/launch/flight_recorder.hpp" namespace "halfwarp::python":
    cppclass recorded_launch:
        uint64_t number
        uint64_t count
        unsigned kernel
        dimensions grid
        dimensions block
        unsigned shared_memory
        CUstream stream
        int device
        unsigned long thread
    cppclass launch_list "std::vector<halfwarp::python::recorded_launch>":
        size_t size()
        const recorded_launch& operator[](size_t)
    launch_list recorded_launches "halfwarp::python::recorder.read"() except +MemoryError


cdef extern from "core/module/kernel_names.hpp" namespace "halfwarp::core":
    native_text name_of_kernel(unsigned) except +MemoryError


cdef extern from "python/arguments/argument_block.hpp" namespace "halfwarp::python":
    cppclass owned_arguments:
        owned_arguments()
        bint prepare(size_t) noexcept
        void** pointers() noexcept


cdef extern from "python/arguments/pack.hpp" namespace "halfwarp::python":
    # Packs a tuple for an unknown kernel.
    int pack_unchecked(object values, owned_arguments&) except -1


cdef extern from "python/launch/prepared_launch.hpp" namespace "halfwarp::python":
    cppclass prepared_launch:
        prepared_launch() except +MemoryError
        int prepare(const kernel_handle&, const config_fields&, object values) except -1
        int replace(size_t, object) except -1
    ctypedef CUresult (*launch_entry)(void* state, CUstream stream) noexcept nogil
    ctypedef object (*prepared_call "vectorcallfunc")(PyObject*, PyObject**, size_t, PyObject*)
    struct prepared_fields:
        prepared_call vectorcall
        prepared_launch* launch
        launch_entry entry
        PyObject* kernel
        PyObject* values
        PyObject* owners
    int register_prepared_class "halfwarp::python::register_class"(
        object, const prepared_fields*) except -1
    int install_prepared_call(object prepared_class) except -1
    object call_prepared(PyObject* prepared, PyObject** arguments, size_t count, PyObject* names)
    launch_entry submit_raw "halfwarp::python::prepared_launch::submit_raw"
