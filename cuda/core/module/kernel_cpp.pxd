# SPDX-License-Identifier: Apache-2.0
# Library and kernel handles of cpp/core, and the driver types in their interface.


cdef extern from "cuda.h" nogil:
    ctypedef struct CUlib_st
    ctypedef CUlib_st* CUlibrary
    ctypedef struct CUmod_st
    ctypedef CUmod_st* CUmodule
    ctypedef enum CUfunction_attribute:
        pass
    ctypedef size_t (*block_size_function "CUoccupancyB2DSize")(int)


cdef extern from "<string>" nogil:
    cppclass native_text "std::string":
        native_text() noexcept
        native_text(const char*, size_t) except +MemoryError
        const char* data() noexcept
        size_t size() noexcept


cdef extern from "<string_view>" nogil:
    cppclass native_view "std::string_view":
        native_view() noexcept
        native_view(const char*, size_t) noexcept


cdef extern from "core/module/kernel_signature.hpp" namespace "halfwarp::core" nogil:
    native_text entry_declarations(native_view ptx) except +translate_exception


cdef extern from "core/module/library.hpp" namespace "halfwarp::core" nogil:
    cppclass library_handle:
        library_handle() noexcept
        CUlibrary raw() noexcept
        bint is_open() noexcept
        void reset() noexcept
    cppclass load_report:
        CUresult code
        const char* function
        native_text log
    void keep_loaded(const library_handle&) noexcept
    struct global_variable:
        CUdeviceptr address
        size_t size
    cppclass symbol_list "std::vector<std::string>":
        size_t size()
        const native_text& operator[](size_t)
    library_handle load_library(const void* image, bint is_ptx, native_view, load_report&) \
        except +translate_exception
    library_handle load_library_file(const char* path, native_view, load_report&) \
        except +translate_exception
    native_text compiler_log(const char* ptx) except +translate_exception
    global_variable find_global(const library_handle&, const char*) except +translate_exception
    symbol_list kernel_symbols(const library_handle&) except +translate_exception


cdef extern from "core/module/image_check.hpp" namespace "halfwarp::core" nogil:
    native_text image_problem(native_view image) except +translate_exception


cdef extern from "core/module/kernel.hpp" namespace "halfwarp::core" nogil:
    cppclass kernel_parameter "halfwarp::core::parameter":
        unsigned size
    cppclass parameter_list "std::vector<halfwarp::core::parameter>":
        size_t size()
        const kernel_parameter& operator[](size_t)
    cppclass offset_list "std::vector<std::uint32_t>":
        const unsigned& operator[](size_t)
    cppclass parameter_layout:
        bint is_known
        parameter_list parameters
        offset_list offsets
    cppclass launch_plan:
        const parameter_layout& load_layout() except +translate_exception
        native_text readable_name() except +translate_exception
        void invalidate_shared_memory(CUdevice) noexcept
    cppclass plan_owner "std::unique_ptr<halfwarp::core::launch_plan>":
        launch_plan* get() noexcept
    cppclass kernel_facts:
        plan_owner plan
    cppclass kernel_handle:
        kernel_handle() noexcept
        CUkernel raw() noexcept
        bint is_open() noexcept
        bint is_owned() noexcept
        const library_handle& parent() noexcept
        kernel_facts& facts() noexcept
        void reset() noexcept
    kernel_handle find_kernel(const library_handle&, const native_text&) \
        except +translate_exception
    kernel_handle kernel_of(CUkernel, const library_handle&) except +translate_exception

ctypedef initialized[kernel_handle] initialized_kernel


# Returns the kernel as the CUfunction that older driver functions accept.
cdef inline CUfunction function_of(const kernel_handle& native) noexcept nogil:
    return <CUfunction>native.raw()


cdef extern from "python/launch/block_size_callback.hpp" namespace "halfwarp::python":
    # Queries the block size with a Python callback for shared memory; an exception stops the query.
    int query_block_size(int* grid, int* block, CUkernel, object function, int limit) except -1
