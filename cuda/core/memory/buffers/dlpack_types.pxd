# SPDX-License-Identifier: Apache-2.0
# C declarations of DLPack 1.2, for C and C++. A DLPack header that is included before replaces
# them.

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t


cdef extern from * nogil:
    """
    #ifndef DLPACK_DLPACK_H_
    #define DLPACK_DLPACK_H_
    #include <stdint.h>
    typedef struct { uint32_t major, minor; } DLPackVersion;
    typedef int32_t DLDeviceType;
    enum { kDLCPU = 1, kDLCUDA = 2, kDLCUDAHost = 3, kDLCUDAManaged = 13 };
    typedef struct { DLDeviceType device_type; int32_t device_id; } DLDevice;
    enum { kDLInt = 0, kDLUInt = 1, kDLFloat = 2, kDLOpaqueHandle = 3, kDLBfloat = 4,
           kDLComplex = 5, kDLBool = 6 };
    typedef struct { uint8_t code, bits; uint16_t lanes; } DLDataType;
    typedef struct {
      void* data; DLDevice device; int32_t ndim; DLDataType dtype;
      int64_t* shape; int64_t* strides; uint64_t byte_offset;
    } DLTensor;
    typedef struct DLManagedTensor {
      DLTensor dl_tensor; void* manager_ctx; void (*deleter)(struct DLManagedTensor*);
    } DLManagedTensor;
    #define DLPACK_FLAG_BITMASK_READ_ONLY (1UL << 0UL)
    #define DLPACK_FLAG_BITMASK_IS_COPIED (1UL << 1UL)
    #define DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED (1UL << 2UL)
    typedef struct DLManagedTensorVersioned {
      DLPackVersion version; void* manager_ctx; void (*deleter)(struct DLManagedTensorVersioned*);
      uint64_t flags; DLTensor dl_tensor;
    } DLManagedTensorVersioned;
    #endif
    """
    ctypedef struct DLPackVersion:
        uint32_t major
        uint32_t minor
    ctypedef int32_t DLDeviceType
    enum:
        kDLCPU
        kDLCUDA
        kDLCUDAHost
        kDLCUDAManaged
        kDLInt
        kDLUInt
        kDLFloat
        kDLOpaqueHandle
        kDLBfloat
        kDLComplex
        kDLBool
        DLPACK_FLAG_BITMASK_READ_ONLY
        DLPACK_FLAG_BITMASK_IS_COPIED
        DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED
    ctypedef struct DLDevice:
        DLDeviceType device_type
        int32_t device_id
    ctypedef struct DLDataType:
        uint8_t code
        uint8_t bits
        uint16_t lanes
    ctypedef struct DLTensor:
        void* data
        DLDevice device
        int32_t ndim
        DLDataType dtype
        int64_t* shape
        int64_t* strides
        uint64_t byte_offset
    ctypedef struct DLManagedTensor:
        DLTensor dl_tensor
        void* manager_ctx
        void (*deleter)(DLManagedTensor*) noexcept
    ctypedef struct DLManagedTensorVersioned:
        DLPackVersion version
        void* manager_ctx
        void (*deleter)(DLManagedTensorVersioned*) noexcept
        uint64_t flags
        DLTensor dl_tensor
