# SPDX-License-Identifier: Apache-2.0
# CUDA arrays, resource descriptors, and the texture and surface objects that kernels use.

cdef class OpaqueArray:
    cdef held_array native
    cdef uintptr_t identity      # the handle value, also after close
    cdef int ordinal
    cdef tuple extents
    cdef object kind             # ArrayFormatType
    cdef int channels
    cdef bint has_surfaces
    cdef object __weakref__


cdef class MipmappedArray:
    cdef held_mipmapped_array native
    cdef uintptr_t identity
    cdef int ordinal
    cdef tuple extents
    cdef object kind
    cdef int channels
    cdef unsigned levels
    cdef bint has_surfaces
    cdef object __weakref__


cdef class ResourceDescriptor:
    cdef str memory_kind         # "array", "mipmapped_array", "linear" or "pitch2d"
    cdef object owner            # the array or Buffer
    cdef object element          # ArrayFormatType; None for arrays
    cdef object channels, bytes, extents, pitch
    cdef object __weakref__


cdef class TextureObject:
    cdef held_texture native
    cdef object identity
    cdef int ordinal
    cdef object source           # ResourceDescriptor
    cdef object settings         # TextureObjectOptions
    cdef object memory           # owner of a Buffer's memory while the texture is open
    cdef object __weakref__


cdef class SurfaceObject:
    cdef held_surface native
    cdef object identity
    cdef int ordinal
    cdef object source           # ResourceDescriptor
    cdef object __weakref__


cdef class GraphicsResource:
    cdef held_graphics native
    cdef uintptr_t identity
    cdef object mapping          # the last _Mapping, or None
    cdef object entered_on       # the Stream on which `with` maps, or None
    cdef object __weakref__
