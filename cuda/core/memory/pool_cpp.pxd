# SPDX-License-Identifier: Apache-2.0
# Declarations of cpp/core/memory: memory pools and stream-ordered deallocation.

from libc.stdint cimport uint64_t


cdef extern from "cuda.h" nogil:
    ctypedef unsigned long long CUdeviceptr
    ctypedef struct CUmemPoolPtrExportData:
        pass
    ctypedef struct CUipcEventHandle:
        pass
    ctypedef struct CUmemPoolHandle_st
    ctypedef CUmemPoolHandle_st* CUmemoryPool
    ctypedef enum CUmemPool_attribute:
        CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES
        CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC
        CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES
        CU_MEMPOOL_ATTR_RELEASE_THRESHOLD
        CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT
        CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH
        CU_MEMPOOL_ATTR_USED_MEM_CURRENT
        CU_MEMPOOL_ATTR_MAX_POOL_SIZE
        CU_MEMPOOL_ATTR_USED_MEM_HIGH
    ctypedef enum CUmemAllocationType:
        CU_MEM_ALLOCATION_TYPE_PINNED
        CU_MEM_ALLOCATION_TYPE_MANAGED
    ctypedef enum CUmemLocationType:
        CU_MEM_LOCATION_TYPE_NONE
        CU_MEM_LOCATION_TYPE_DEVICE
        CU_MEM_LOCATION_TYPE_HOST
        CU_MEM_LOCATION_TYPE_HOST_NUMA
        CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT
    ctypedef enum CUmemAccess_flags:
        CU_MEM_ACCESS_FLAGS_PROT_NONE
        CU_MEM_ACCESS_FLAGS_PROT_READ
        CU_MEM_ACCESS_FLAGS_PROT_READWRITE
    ctypedef struct CUmemLocation:
        CUmemLocationType type
        int id
    ctypedef struct CUmemAccessDesc:
        CUmemLocation location
        CUmemAccess_flags flags
    ctypedef enum CUmemorytype:
        CU_MEMORYTYPE_HOST
        CU_MEMORYTYPE_DEVICE
        CU_MEMORYTYPE_UNIFIED
    ctypedef enum CUpointer_attribute:
        CU_POINTER_ATTRIBUTE_MEMORY_TYPE
        CU_POINTER_ATTRIBUTE_IS_MANAGED
        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL


cdef extern from "core/memory/pool.hpp" namespace "halfwarp::core" nogil:
    enum class pool_sharing(unsigned char):
        none
        exportable
        imported
    cppclass pool_facts:
        CUdevice device
        pool_sharing sharing
    cppclass pool_handle:
        pool_handle() noexcept
        CUmemoryPool raw() noexcept
        bint is_open() noexcept
        bint is_owned() noexcept
        pool_facts& facts() noexcept
        void swap(pool_handle&) noexcept
        void reset() noexcept
    pool_handle current_pool(CUdevice) except +translate_exception
    cppclass pool_place:
        CUmemAllocationType type
        CUmemLocationType location
        int id
    pool_handle pool_that_is_there "halfwarp::core::current_pool"(const pool_place&) \
        except +translate_exception
    pool_handle create_pool(const pool_place&, size_t max_size, pool_sharing) \
        except +translate_exception
    CUmemAccess_flags pool_access(const pool_handle&, CUdevice) except +translate_exception
    void set_pool_access(const pool_handle&, const CUmemAccessDesc*, size_t) \
        except +translate_exception
    uint64_t pool_attribute(const pool_handle&, CUmemPool_attribute) except +translate_exception
    void set_pool_attribute(const pool_handle&, CUmemPool_attribute, uint64_t) \
        except +translate_exception
    void trim_pool(const pool_handle&, size_t) except +translate_exception
    CUdeviceptr allocate_from_pool(const pool_handle&, size_t, const stream_ref&) \
        except +translate_exception


cdef extern from "core/memory/free_order.hpp" namespace "halfwarp::core" nogil:
    enum class memory_kind(unsigned char):
        pool
        device
        host
    struct free_result:
        CUresult code
        const char* function
    bint is_capturing(CUstream) noexcept
    void free_deferred_if_any() noexcept
    cppclass free_order:
        free_order() noexcept

        @staticmethod
        free_order without_stream(context_instance) noexcept

        @staticmethod
        free_order now(stream_handle, context_handle) except +translate_exception

        void record(stream_handle) except +translate_exception
        bint is_recorded() noexcept
        bint is_on(CUstream) noexcept
        bint is_of_this_process() noexcept
        bint needs_no_free() noexcept
        void swap(free_order&) noexcept
        free_result free(CUdeviceptr, memory_kind) noexcept
        void make_wait(const stream_ref&) except +translate_exception
        bint enter() noexcept

        @staticmethod
        void leave() noexcept


cdef extern from "core/memory/sharing.hpp" namespace "halfwarp::core":
    int export_pool(const pool_handle&) except +translate_exception
    pool_handle import_pool(int descriptor, CUdevice) except +translate_exception
    CUmemPoolPtrExportData export_memory(CUdeviceptr) except +translate_exception
    CUdeviceptr import_memory(const pool_handle&, const CUmemPoolPtrExportData&) \
        except +translate_exception
    bint is_imported(CUdeviceptr, CUmemPoolPtrExportData*) noexcept
    free_result release_imported(CUdeviceptr, const free_order&) noexcept
    int export_mapping(CUdeviceptr) except +translate_exception
    size_t extent_of(CUdeviceptr) except +translate_exception
    CUipcEventHandle export_event(const event_ref&) except +translate_exception
    event_handle import_event(const CUipcEventHandle&, unsigned) except +translate_exception


cdef extern from "core/memory/transfers.hpp" namespace "halfwarp::core" nogil:
    CUresult copy_in_order(const stream_ref&, CUdeviceptr to, CUdeviceptr source, size_t size) \
        noexcept


cdef extern from "core/memory/copied_arrays.hpp" namespace "halfwarp::core" nogil:
    bint has_completed(const event_ref&) noexcept


cdef extern from "core/lifetime/release.hpp" namespace "halfwarp::core" nogil:
    cppclass relaxed_capture "halfwarp::core::relaxed_capture_scope":
        relaxed_capture()


cdef extern from "core/memory/synchronous.hpp" namespace "halfwarp::core" nogil:
    CUdeviceptr allocate_in_context(const context_ref&, size_t) except +translate_exception


cdef extern from "python/objects.hpp" namespace "halfwarp::python" nogil:
    struct buffer_fields:
        CUdeviceptr pointer
        size_t size
        bint is_open
    int register_buffer_class "halfwarp::python::register_class"(object, const buffer_fields*) \
        except -1
