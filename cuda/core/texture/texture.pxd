# SPDX-License-Identifier: Apache-2.0
# Arrays, what textures are of, and the objects through which kernels reach them.

cdef class OpaqueArray:
    cdef held_array native
    cdef uintptr_t identity      # the handle, also of a closed one
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
    cdef str what                # "array", "mipmapped_array", "linear" or "pitch2d"
    cdef object of               # the array or Buffer that was given
    cdef object element          # ArrayFormatType; None: that of the array
    cdef object channels, bytes, extents, pitch
    cdef object __weakref__


cdef class TextureObject:
    cdef held_texture native
    cdef object identity
    cdef int ordinal
    cdef object of               # ResourceDescriptor
    cdef object how              # TextureObjectOptions
    cdef object memory           # of a Buffer, as long as the object is open
    cdef object __weakref__


cdef class SurfaceObject:
    cdef held_surface native
    cdef object identity
    cdef int ordinal
    cdef object of
    cdef object __weakref__


cdef class GraphicsResource:
    cdef held_graphics native
    cdef uintptr_t identity
    cdef object mapping          # the _Mapping that was made last, or None
    cdef object entered_on       # the Stream that `with` maps on, or None
    cdef object __weakref__
