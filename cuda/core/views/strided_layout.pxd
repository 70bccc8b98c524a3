# SPDX-License-Identifier: Apache-2.0
# Strided layouts: extents, strides and an offset, in elements.

from libc.stdint cimport int64_t, uint64_t

from cuda.core._core cimport initialized


cdef extern from "views/layout/layout.hpp" namespace "halfwarp::views":
    cppclass strided_layout "halfwarp::views::layout":
        strided_layout() noexcept
        strided_layout(int ndim, int itemsize, bint has_strides) except +
        int ndim() noexcept
        int itemsize() noexcept
        bint has_strides() noexcept
        bint is_empty() noexcept
        int64_t offset() noexcept
        void set_offset(int64_t) noexcept
        int64_t* extents() noexcept
        int64_t* strides() noexcept
        strided_layout with_strides() except +
        bint equals "operator=="(const strided_layout&) noexcept


ctypedef initialized[strided_layout] initialized_layout


@cython.final
cdef class _StridedLayout:
    cdef initialized_layout native

# Wraps a layout of C++.
cdef _StridedLayout wrap_layout(const strided_layout& native)
