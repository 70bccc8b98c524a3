# SPDX-License-Identifier: Apache-2.0
# _StridedLayout: the Python class of cpp/views/layout.

from cpython.number cimport PyNumber_AsSsize_t
from cpython.tuple cimport PyTuple_GET_ITEM, PyTuple_GET_SIZE


cdef extern from "<span>" namespace "std":
    cppclass numbers "std::span<const std::int64_t>":
        numbers(const int64_t*, size_t) noexcept


cdef extern from "views/layout/axes.hpp" namespace "halfwarp::views":
    const int max_ndim "halfwarp::views::layout::max_ndim"
    cppclass axis_list:
        int count
        int operator[](int) noexcept
    axis_list distinct_axes(numbers, int ndim, const char* what) except +


cdef extern from "views/layout/layout.hpp" namespace "halfwarp::views":
    void check_layout "halfwarp::views::check"(const strided_layout&) except +
    void divide_layout_strides "halfwarp::views::divide_strides"(strided_layout&) except +


cdef extern from "views/layout/dense.hpp" namespace "halfwarp::views":
    axis_list c_order(int ndim) noexcept
    axis_list fortran_order(int ndim) noexcept
    axis_list order_of_strides "halfwarp::views::stride_order"(const strided_layout&) noexcept
    strided_layout make_dense "halfwarp::views::dense_like"(const strided_layout&,
                                                            const axis_list&) except +
    bint is_contiguous(const strided_layout&, const axis_list&) noexcept
    void set_dense_strides(strided_layout&, const axis_list&) except +


cdef extern from "views/layout/facts.hpp" namespace "halfwarp::views":
    struct offset_range:
        int64_t first
        int64_t last
    void check_reach(const strided_layout&, uint64_t address) except +
    int64_t volume(const strided_layout&) except +
    offset_range bounds_of "halfwarp::views::offset_bounds"(const strided_layout&) except +
    int64_t offset_in_bytes(const strided_layout&) except +
    int64_t size_for "halfwarp::views::required_size_in_bytes"(const strided_layout&) except +
    bint is_contiguous_c(const strided_layout&) noexcept
    bint is_contiguous_f(const strided_layout&) noexcept
    bint is_contiguous_any(const strided_layout&) noexcept
    bint is_dense(const strided_layout&) noexcept
    bint is_unique(const strided_layout&) noexcept


cdef extern from "views/layout/changes.hpp" namespace "halfwarp::views":
    strided_layout reshaped(const strided_layout&, numbers) except +
    strided_layout permuted(const strided_layout&, numbers) except +
    strided_layout squeezed(const strided_layout&) except +
    strided_layout unsqueezed(const strided_layout&, numbers) except +
    strided_layout broadcast_to(const strided_layout&, numbers) except +
    strided_layout flattened(const strided_layout&, uint64_t mask) except +
    uint64_t mask_of "halfwarp::views::flattened_axis_mask"(const strided_layout&) except +
    uint64_t mask_of_range(int ndim, int64_t start, int64_t end) except +
    cppclass subscript:
        int64_t start, step, count
    cppclass subscripts "std::span<const halfwarp::views::subscript>":
        subscripts(const subscript*, size_t) noexcept
    strided_layout sliced(const strided_layout&, subscripts) except +


cdef extern from *:
    """
    // Cython does not support enumerations inside a class.
    static inline halfwarp::views::subscript index_entry(std::int64_t index) noexcept {
      return {halfwarp::views::subscript::index, index, 0, 0};
    }
    static inline halfwarp::views::subscript range_entry(std::int64_t start, std::int64_t step,
                                                         std::int64_t count) noexcept {
      return {halfwarp::views::subscript::range, start, step, count};
    }
    static inline halfwarp::views::subscript new_axis_entry() noexcept {
      return {halfwarp::views::subscript::new_axis, 0, 0, 0};
    }
    """
    subscript index_entry(int64_t) noexcept
    subscript range_entry(int64_t start, int64_t step, int64_t count) noexcept
    subscript new_axis_entry() noexcept


cdef extern from "views/layout/repacking.hpp" namespace "halfwarp::views":
    strided_layout repacked(const strided_layout&, int64_t itemsize, int64_t address, int64_t axis,
                            bint keep_dim) except +
    int64_t max_compatible_itemsize(const strided_layout&, int64_t most, int64_t address,
                                    int64_t axis) except +


cdef extern from "Python.h":
    long long PyLong_AsLongLongAndOverflow(object, int* overflow) except? -1
    int PySlice_Unpack(object, Py_ssize_t* start, Py_ssize_t* stop, Py_ssize_t* step) except -1
    Py_ssize_t PySlice_AdjustIndices(Py_ssize_t length, Py_ssize_t* start, Py_ssize_t* stop,
                                     Py_ssize_t step)

# Exceeds the maximum of a layout by one, so that the check of the layout detects too many.
cdef enum:
    MAX_NUMBERS = 65


cdef int fill_numbers(int64_t* numbers_out, tuple values, str name) except -1:
    """Store the integers of a tuple, at most MAX_NUMBERS."""
    cdef Py_ssize_t position
    cdef int overflow
    for position in range(min(PyTuple_GET_SIZE(values), <Py_ssize_t>MAX_NUMBERS)):
        value = <object>PyTuple_GET_ITEM(values, position)
        number = integer_or_none(value)
        if number is None:
            raise TypeError(f"{name} must be a tuple of ints, got {shown(value)} "
                            f"({type(value).__name__}) at position {position}")
        numbers_out[position] = PyLong_AsLongLongAndOverflow(number, &overflow)
        if overflow:
            raise OverflowError(f"{name} has a number that is too large for 64 bits at position "
                                f"{position}: {number}")


cdef tuple as_tuple(const int64_t* values, int count):
    return tuple([values[i] for i in range(count)])


cdef strided_layout layout_from(tuple shape, object strides, int64_t itemsize,
                                bint divide) except *:
    """Create a layout from arguments. `divide`: the strides are in bytes."""
    if strides is not None and not isinstance(strides, tuple):
        raise TypeError("Argument 'strides' has incorrect type (expected tuple or None, got "
                        f"{type(strides).__name__})")
    cdef int ndim = len(shape)
    if not -0x80000000 <= itemsize <= 0x7fffffff:
        raise OverflowError(f"itemsize must be less than 2**31, got {itemsize}")
    cdef strided_layout layout = strided_layout(ndim, <int>itemsize, strides is not None)
    fill_numbers(layout.extents(), shape, "shape")
    check_layout(layout)
    if strides is None:
        return layout
    if PyTuple_GET_SIZE(strides) != ndim:
        raise ValueError(
            "Strides, if provided, must have the same length as shape. Shape has "
            f"{ndim} dimensions, but strides has {PyTuple_GET_SIZE(strides)} elements.")
    fill_numbers(layout.strides(), <tuple>strides, "strides")
    if divide:
        divide_layout_strides(layout)
    return layout


cdef axis_list axes_of_order(object order, int ndim) except *:
    """Return the axes for "C", "F", or a permutation that ends with the axis of stride 1."""
    cdef int64_t[MAX_NUMBERS] axes
    if isinstance(order, str):
        if order == "C":
            return c_order(ndim)
        if order == "F":
            return fortran_order(ndim)
    elif isinstance(order, (tuple, list)):
        axis_order = tuple(order)
        if len(axis_order) != ndim:
            raise ValueError(
                "stride_order must have the same length as shape. Shape has "
                f"{ndim} dimensions, but stride_order has {len(axis_order)} elements.")
        fill_numbers(axes, axis_order, "axis_order")
        return distinct_axes(numbers(axes, ndim), ndim, b"Invalid stride order")
    raise ValueError("The stride_order must be 'C', 'F', or a permutation tuple. Got: "
                     f"{shown(order)}")


cdef _StridedLayout wrap_layout(const strided_layout& native):
    cdef _StridedLayout layout = _StridedLayout.__new__(_StridedLayout)
    layout.native.set(native)
    return layout


cdef _StridedLayout dense_layout_of(_StridedLayout layout, object order):
    """Return a dense layout in an axis order; the object itself if it already is one."""
    cdef bint is_name = isinstance(order, str)
    cdef axis_list axes
    if is_name and order == "K":
        axes = order_of_strides(layout.native.get(layout))
    else:
        axes = axes_of_order(order, layout.native.get(layout).ndim())
    cdef strided_layout* native = &layout.native.get(layout)
    if is_name and native.offset() == 0 and is_contiguous(native[0], axes):
        return layout
    return wrap_layout(make_dense(layout.native.get(layout), axes))


cdef strided_layout layout_of_key(const strided_layout& native, object key) except *:
    """Apply a subscript of integers, slices, Ellipsis and None by the rules of NumPy."""
    cdef subscript[2 * MAX_NUMBERS] entries
    cdef int count = 0, axis = 0, ndim = (<strided_layout*>&native).ndim(), missing
    cdef Py_ssize_t start, stop, step, length
    cdef tuple keys = <tuple>key if isinstance(key, tuple) else (key,)
    cdef int axes_used = len([each for each in keys if each is not None and each is not ...])
    if keys.count(None) > max_ndim:
        raise ValueError(f"a subscript has at most {max_ndim} new axes, got {keys.count(None)}")
    if axes_used > ndim:
        raise ValueError(f"The number of slices ({axes_used}) is greater than the number of "
                         f"dimensions ({ndim}).")
    missing = ndim - axes_used
    for each in keys:
        if each is None:
            entries[count] = new_axis_entry()
        elif each is ...:
            if missing < 0:
                raise ValueError("Invalid slice: a subscript has at most one Ellipsis")
            for axis in range(axis, axis + missing):
                entries[count] = range_entry(
                    0, 1, (<strided_layout*>&native).extents()[axis])
                count += 1
            axis += missing > 0
            missing = -1
            continue
        elif isinstance(each, slice):
            PySlice_Unpack(each, &start, &stop, &step)
            length = PySlice_AdjustIndices((<strided_layout*>&native).extents()[axis], &start,
                                           &stop, step)
            entries[count] = range_entry(start, step, length)
            axis += 1
        elif PyIndex_Check(each):
            entries[count] = index_entry(PyNumber_AsSsize_t(each, OverflowError))
            axis += 1
        else:
            raise TypeError(f"Invalid slice: {shown(each)}. Expected slice instance or integer.")
        count += 1
    return sliced(native, subscripts(entries, count))


@cython.final
@cython.no_gc
@cython.freelist(32)
cdef class _StridedLayout:
    """_StridedLayout(shape, strides, itemsize, divide_strides=False)
--

The offsets of the elements of a strided array. Immutable; owns no memory.

Extents, strides and offsets count elements. Up to 64 dimensions.

Parameters
----------
shape : tuple of int
    The extent of each axis.
strides : tuple of int or None
    The distance of neighbors along each axis; None for dense C order, which does not compare equal
    to the same layout with explicit strides.
itemsize : int
    The size of an element in bytes.
divide_strides : bool, optional
    Whether `strides` are in bytes.

Raises
------
ValueError
    If an extent is negative, the lengths differ, `itemsize` is not positive or does not divide a
    stride in bytes, or there are more than 64 dimensions.
OverflowError
    If a number does not fit 64 bits.
"""

    def __init__(self, tuple shape, strides, itemsize, bint divide_strides=False):
        self.native.set(layout_from(shape, strides, as_int("itemsize", itemsize), divide_strides))

    @staticmethod
    def dense(tuple shape, itemsize, stride_order="C"):
        """Return a dense layout.

        Host only.

        Parameters
        ----------
        shape : tuple of int
            The extent of each axis.
        itemsize : int
            The size of an element in bytes.
        stride_order : str or tuple of int, optional
            ``"C"``, ``"F"``, or a permutation of the axes; the last axis has stride 1.

        Returns
        -------
        _StridedLayout

        Raises
        ------
        ValueError
            If `stride_order` is not a permutation of the axes.
        """
        cdef strided_layout plain = layout_from(shape, None, as_int("itemsize", itemsize), False)
        return wrap_layout(make_dense(plain, axes_of_order(stride_order, plain.ndim())))

    @staticmethod
    def dense_like(_StridedLayout other, stride_order="K"):
        """Return a dense layout without offset, with the shape and element size of another one.

        Host only.

        Parameters
        ----------
        other : _StridedLayout
            The layout, which is returned itself if it already is the result.
        stride_order : str or tuple of int, optional
            As for `dense`, or ``"K"``: the order of the strides of `other`.

        Returns
        -------
        _StridedLayout
        """
        return dense_layout_of(other, stride_order)

    def to_dense(self, stride_order="K"):
        """Return a dense layout of the same shape and element size, as `dense_like`. Host only.

        Parameters
        ----------
        stride_order : str or tuple of int, optional
            As for `dense_like`.

        Returns
        -------
        _StridedLayout
        """
        return dense_layout_of(self, stride_order)

    @property
    def ndim(self):
        """The number of axes. Host only."""
        return self.native.get(self).ndim()

    @property
    def shape(self):
        """The extent of each axis. Host only."""
        return as_tuple(self.native.get(self).extents(), self.native.get(self).ndim())

    @property
    def strides(self):
        """Strides in elements; None for implicit C order. Host only."""
        if not self.native.get(self).has_strides():
            return None
        return as_tuple(self.native.get(self).strides(), self.native.get(self).ndim())

    @property
    def strides_in_bytes(self):
        """Strides in bytes; None for implicit C order. Host only."""
        strides = self.strides
        if strides is None:
            return None
        byte_strides = tuple([stride * self.itemsize for stride in strides])
        for stride in byte_strides:
            if not -(2**63) <= stride < 2**63:
                raise OverflowError(f"a stride of {stride} bytes does not fit 64 bits")
        return byte_strides

    @property
    def itemsize(self):
        """The size of an element in bytes. Host only."""
        return self.native.get(self).itemsize()

    @property
    def slice_offset(self):
        """Offset of the first element, in elements. Host only."""
        return self.native.get(self).offset()

    @property
    def slice_offset_in_bytes(self):
        """Offset of the first element, in bytes. Host only."""
        return offset_in_bytes(self.native.get(self))

    @property
    def volume(self):
        """The number of elements; 1 without axes. Host only."""
        return volume(self.native.get(self))

    @property
    def stride_order(self):
        """The axes by decreasing stride; equal strides by decreasing extent. Host only."""
        cdef axis_list order = order_of_strides(self.native.get(self))
        return tuple([order[i] for i in range(order.count)])

    @property
    def is_contiguous_c(self):
        """Whether the layout is contiguous in C order, ignoring extents of 1. Host only."""
        return is_contiguous_c(self.native.get(self))

    @property
    def is_contiguous_f(self):
        """Whether the layout is contiguous in Fortran order, ignoring extents of 1. Host only."""
        return is_contiguous_f(self.native.get(self))

    @property
    def is_contiguous_any(self):
        """Whether the layout is contiguous in any axis order. Host only."""
        return is_contiguous_any(self.native.get(self))

    @property
    def is_dense(self):
        """Whether the layout is contiguous without an offset. Host only."""
        return is_dense(self.native.get(self))

    @property
    def is_unique(self):
        """Whether no two elements share memory; False if that is uncertain. Host only."""
        return is_unique(self.native.get(self))

    @property
    def offset_bounds(self):
        """The smallest and largest element offset; (0, -1) without elements. Host only."""
        cdef offset_range bounds = bounds_of(self.native.get(self))
        return bounds.first, bounds.last

    @property
    def min_offset(self):
        """The smallest element offset. Host only."""
        return bounds_of(self.native.get(self)).first

    @property
    def max_offset(self):
        """The largest element offset. Host only."""
        return bounds_of(self.native.get(self)).last

    def required_size_in_bytes(self):
        """Return the size of the memory that the layout needs from offset 0. Host only.

        Returns
        -------
        int
            Size in bytes; 0 without elements.

        Raises
        ------
        ValueError
            If an element has a negative offset.
        """
        return size_for(self.native.get(self))

    def reshaped(self, tuple shape):
        """Return the layout of the same elements, in the same order, with another shape.

        Host only.

        Parameters
        ----------
        shape : tuple of int
            The new extents; one may be -1 to be computed.

        Returns
        -------
        _StridedLayout

        Raises
        ------
        ValueError
            If the number of elements differs, or the strides would require a copy.
        """
        cdef int64_t[MAX_NUMBERS] extents
        fill_numbers(extents, shape, "shape")
        return wrap_layout(reshaped(self.native.get(self), numbers(extents, len(shape))))

    def permuted(self, tuple axis_order):
        """Return the layout with permuted axes.

        Host only.

        Parameters
        ----------
        axis_order : tuple of int
            Each axis once; negative ones count from the end.

        Returns
        -------
        _StridedLayout

        Raises
        ------
        ValueError
            If `axis_order` is not a permutation of the axes.
        """
        cdef int64_t[MAX_NUMBERS] axes
        fill_numbers(axes, axis_order, "axis_order")
        return wrap_layout(permuted(self.native.get(self), numbers(axes, len(axis_order))))

    def flattened(self, start_axis=0, end_axis=-1, mask=None):
        """Return the layout with adjacent axes merged if one stride describes both.

        Host only.

        Parameters
        ----------
        start_axis, end_axis : int, optional
            The range of axes to merge, both inclusive.
        mask : int, optional
            A bit mask instead of the range: bit i allows merging axis i into the previous axis.

        Returns
        -------
        _StridedLayout
            A layout with at least one axis.
        """
        cdef uint64_t axis_mask
        if mask is None:
            axis_mask = mask_of_range(self.native.get(self).ndim(),
                                      as_int("start_axis", start_axis),
                                      as_int("end_axis", end_axis))
        else:
            axis_mask = as_int("mask", mask)
        return wrap_layout(flattened(self.native.get(self), axis_mask))

    def flattened_axis_mask(self):
        """Return a bit mask of the axes that can be merged into the previous axis. Host only.

        Returns
        -------
        int
            Bit i stands for axis i. Combine masks of layouts of equal rank with ``&``.
        """
        return mask_of(self.native.get(self))

    def squeezed(self):
        """Remove the axes of extent 1; shape ``(0,)`` without elements. Host only.

        Returns
        -------
        _StridedLayout
        """
        return wrap_layout(squeezed(self.native.get(self)))

    def unsqueezed(self, axis):
        """Return the layout with inserted axes of extent 1.

        Host only.

        Parameters
        ----------
        axis : int or tuple of int
            Positions of the new axes in the result.

        Returns
        -------
        _StridedLayout

        Raises
        ------
        ValueError
            If an axis is out of range or repeated.
        """
        cdef int64_t[MAX_NUMBERS] axes
        new_axes = (axis,) if PyIndex_Check(axis) else tuple(axis)
        if not new_axes:
            return self
        fill_numbers(axes, new_axes, "axes")
        return wrap_layout(unsqueezed(self.native.get(self), numbers(axes, len(new_axes))))

    def broadcast_to(self, tuple shape):
        """Return the layout broadcast to a shape, with stride 0 for extended and new axes.

        Host only.

        Parameters
        ----------
        shape : tuple of int
            The shape, by the broadcasting rules of NumPy.

        Returns
        -------
        _StridedLayout

        Raises
        ------
        ValueError
            If an extent other than 1 would change.
        """
        cdef int64_t[MAX_NUMBERS] extents
        fill_numbers(extents, shape, "shape")
        return wrap_layout(broadcast_to(self.native.get(self), numbers(extents, len(shape))))

    def repacked(self, itemsize, data_ptr=0, axis=-1, bint keep_dim=True):
        """Return the layout of the same bytes as elements of another size.

        Host only.

        Parameters
        ----------
        itemsize : int
            Element size in bytes: a multiple or a divisor of the current one.
        data_ptr : int, optional
            The address of the memory, which must be aligned to the larger elements.
        axis : int, optional
            The axis whose extent changes; its stride must be 1.
        keep_dim : bool, optional
            Whether to keep that axis if its extent becomes 1.

        Returns
        -------
        _StridedLayout

        Raises
        ------
        ValueError
            If extents, strides, offset or address are not divisible accordingly.
        """
        cdef int64_t size = as_int("itemsize", itemsize)
        if size == self.native.get(self).itemsize():
            return self
        return wrap_layout(repacked(self.native.get(self), size, signed_address(data_ptr),
                                    as_int("axis", axis), keep_dim))

    def max_compatible_itemsize(self, max_itemsize=16, data_ptr=0, axis=-1):
        """Return the largest element size that `repacked` accepts.

        Host only.

        Parameters
        ----------
        max_itemsize : int, optional
            Size in bytes; the result is a divisor of it.
        data_ptr : int, optional
            The address of the memory.
        axis : int, optional
            The axis whose extent would change.

        Returns
        -------
        int
            Element size in bytes; the current size if no larger one is possible.
        """
        return max_compatible_itemsize(self.native.get(self), as_int("max_itemsize", max_itemsize),
                                       signed_address(data_ptr), as_int("axis", axis))

    def sliced(self, slices):
        """Return the layout of a subset of the elements: ``layout[slices]``.

        Host only.

        Parameters
        ----------
        slices : object
            An int, a slice, Ellipsis or None, or a tuple of these, as in NumPy. An int removes its
            axis and changes the offset.

        Returns
        -------
        _StridedLayout

        Raises
        ------
        ValueError
            If an int is out of range, or there are more entries than axes.
        """
        return wrap_layout(layout_of_key(self.native.get(self), slices))

    def __getitem__(self, key):
        return wrap_layout(layout_of_key(self.native.get(self), key))

    def __eq__(self, other):
        if not isinstance(other, _StridedLayout):
            return NotImplemented
        return self.native.value_or_null().equals((<_StridedLayout>other).native.value_or_null())

    __hash__ = None

    def __reduce__(self):
        raise TypeError("cannot pickle '_StridedLayout' object")

    def __repr__(self):
        if not self.native.is_set():
            return "<_StridedLayout>"
        offset = f", _slice_offset={self.slice_offset}" if self.slice_offset else ""
        return (f"_StridedLayout(shape={self.shape}, strides={self.strides}, "
                f"itemsize={self.itemsize}{offset})")


cdef int64_t signed_address(object value) except? -1:
    """Return an address as a signed number with the same divisors."""
    number = as_int("data_ptr", value)
    return number - 2**64 if 2**63 <= number < 2**64 else number
