# SPDX-License-Identifier: Apache-2.0
# Array, texture, surface and graphics handles of cpp/core, and their holders in Cython objects.

from cuda.bindings.cydriver cimport (
    CU_MEMORYTYPE_ARRAY,
    CU_MEMORYTYPE_UNIFIED,
    CU_RESOURCE_TYPE_ARRAY,
    CU_RESOURCE_TYPE_LINEAR,
    CU_RESOURCE_TYPE_MIPMAPPED_ARRAY,
    CU_RESOURCE_TYPE_PITCH2D,
    CUaddress_mode,
    CUarray,
    CUarray_format,
    CUDA_ARRAY3D_DESCRIPTOR,
    CUDA_MEMCPY3D,
    CUDA_RESOURCE_DESC,
    CUDA_TEXTURE_DESC,
    CUfilter_mode,
    CUgraphicsResource,
    CUmipmappedArray,
    CUsurfObject,
    CUtexObject,
)


cdef extern from "core/handle.hpp" namespace "halfwarp::core" nogil:
    void report_failed_destroy(const char* function, uintptr_t handle, CUresult) noexcept


cdef extern from "core/memory/transfers.hpp" namespace "halfwarp::core" nogil:
    CUresult copy_rows_in_order(const stream_ref&, const CUDA_MEMCPY3D&) noexcept


cdef extern from "core/texture/texture.hpp" namespace "halfwarp::core" nogil:
    cppclass array_ref:
        CUarray raw() noexcept
        bint is_open() noexcept
        const context_instance& parent() noexcept
        array_handle share() noexcept
    cppclass array_handle(array_ref):
        array_handle() noexcept
        array_handle take() noexcept
    cppclass mipmapped_array_ref:
        CUmipmappedArray raw() noexcept
        bint is_open() noexcept
        const context_instance& parent() noexcept
        mipmapped_array_handle share() noexcept
    cppclass mipmapped_array_handle(mipmapped_array_ref):
        mipmapped_array_handle() noexcept
        mipmapped_array_handle take() noexcept
    cppclass bound_facts:
        array_handle array
        mipmapped_array_handle levels
    cppclass texture_ref:
        CUtexObject raw() noexcept
        bint is_open() noexcept
    cppclass texture_handle(texture_ref):
        texture_handle() noexcept
        texture_handle take() noexcept
    cppclass surface_ref:
        CUsurfObject raw() noexcept
        bint is_open() noexcept
    cppclass surface_handle(surface_ref):
        surface_handle() noexcept
        surface_handle take() noexcept
    cppclass graphics_ref:
        CUgraphicsResource raw() noexcept
        bint is_open() noexcept
        const context_instance& parent() noexcept
    cppclass graphics_handle(graphics_ref):
        graphics_handle() noexcept
        graphics_handle take() noexcept
    struct mapped_range:
        CUdeviceptr pointer
        size_t size
    array_handle create_array(context_handle, const CUDA_ARRAY3D_DESCRIPTOR&) \
        except +translate_exception
    mipmapped_array_handle create_mipmapped_array(context_handle, const CUDA_ARRAY3D_DESCRIPTOR&,
                                                  unsigned) except +translate_exception
    array_handle level_of(const mipmapped_array_ref&, unsigned) except +translate_exception
    texture_handle create_texture(context_handle, const CUDA_RESOURCE_DESC&,
                                  const CUDA_TEXTURE_DESC&, bound_facts) \
        except +translate_exception
    surface_handle create_surface(context_handle, const CUDA_RESOURCE_DESC&, bound_facts) \
        except +translate_exception
    graphics_handle register_graphics_buffer "halfwarp::core::register_buffer"(
        unsigned, unsigned) except +translate_exception
    graphics_handle register_graphics_image "halfwarp::core::register_image"(
        unsigned, unsigned, unsigned) except +translate_exception
    void map_graphics(const graphics_ref&, const stream_ref&) except +translate_exception
    CUresult unmap_graphics(const graphics_ref&, const stream_ref&) noexcept
    mapped_range pointer_of(const graphics_ref&) except +translate_exception
    array_handle array_of(const graphics_ref&, unsigned layer, unsigned level,
                          CUDA_ARRAY3D_DESCRIPTOR*) except +translate_exception


cdef extern from "python/textures.hpp" namespace "halfwarp::python":
    cppclass borrowed_array(array_ref):
        borrowed_array() noexcept
    cppclass borrowed_mipmapped_array(mipmapped_array_ref):
        borrowed_mipmapped_array() noexcept
    cppclass borrowed_texture(texture_ref):
        borrowed_texture() noexcept
    cppclass borrowed_surface(surface_ref):
        borrowed_surface() noexcept
    cppclass borrowed_graphics(graphics_ref):
        borrowed_graphics() noexcept

ctypedef held[array_handle, borrowed_array] held_array
ctypedef held[mipmapped_array_handle, borrowed_mipmapped_array] held_mipmapped_array
ctypedef held[texture_handle, borrowed_texture] held_texture
ctypedef held[surface_handle, borrowed_surface] held_surface
ctypedef held[graphics_handle, borrowed_graphics] held_graphics
ctypedef initialized[graphics_handle] initialized_graphics
