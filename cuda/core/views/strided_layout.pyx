# SPDX-License-Identifier: Apache-2.0
# _StridedLayout: the face of cpp/views/layout.

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
    // For Cython, which does not know enumerations of a class.
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
    int PySlice_Unpack(object, Py_ssize_t* start, Py_ssize_t* stop, Py_ssize_t* step) except -1
    Py_ssize_t PySlice_AdjustIndices(Py_ssize_t length, Py_ssize_t* start, Py_ssize_t* stop,
                                     Py_ssize_t step)

# One more than a layout takes, so that it can say what is too many.
cdef enum:
    MOST_NUMBERS = 65


cdef int fill_numbers(int64_t* to, tuple given) except -1:
    """The integers of a tuple; those beyond what a layout takes are left out."""
    cdef Py_ssize_t place
    for place in range(min(PyTuple_GET_SIZE(given), <Py_ssize_t>MOST_NUMBERS)):
        to[place] = PyNumber_Index(<object>PyTuple_GET_ITEM(given, place))
    return 0


cdef tuple as_tuple(const int64_t* given, int count):
    return tuple([given[i] for i in range(count)])


cdef strided_layout layout_from(tuple shape, object strides, int64_t itemsize,
                                bint divide) except *:
    """A layout of what a user gave; strides in bytes when they are to be divided."""
    if strides is not None and not isinstance(strides, tuple):
        raise TypeError("Argument 'strides' has incorrect type (expected tuple or None, got "
                        f"{type(strides).__name__})")
    cdef int ndim = len(shape)
    if not -0x80000000 <= itemsize <= 0x7fffffff:
        raise OverflowError(f"itemsize must be less than 2**31, got {itemsize}")
    cdef strided_layout made = strided_layout(ndim, <int>itemsize, strides is not None)
    fill_numbers(made.extents(), shape)
    check_layout(made)
    if strides is None:
        return made
    if len(strides) != ndim:
        raise ValueError(
            "Strides, if provided, must have the same length as shape. Shape has "
            f"{ndim} dimensions, but strides has {len(strides)} elements.")
    fill_numbers(made.strides(), <tuple>strides)
    if divide:
        divide_layout_strides(made)
    return made


cdef axis_list axes_of_order(object order, int ndim) except *:
    """The axes of "C", "F", or a permutation whose last entry is the axis of stride 1."""
    cdef int64_t[MOST_NUMBERS] axes
    if isinstance(order, str):
        if order == "C":
            return c_order(ndim)
        if order == "F":
            return fortran_order(ndim)
    elif isinstance(order, (tuple, list)):
        given = tuple(order)
        if len(given) != ndim:
            raise ValueError(
                "stride_order must have the same length as shape. Shape has "
                f"{ndim} dimensions, but stride_order has {len(given)} elements.")
        fill_numbers(axes, given)
        return distinct_axes(numbers(axes, ndim), ndim, b"Invalid stride order")
    raise ValueError("The stride_order must be 'C', 'F', or a permutation tuple. Got: "
                     f"{order!r}")


cdef _StridedLayout wrap_layout(const strided_layout& native):
    cdef _StridedLayout made = _StridedLayout.__new__(_StridedLayout)
    made.native = native
    return made


cdef _StridedLayout without_gaps(_StridedLayout given, object order):
    """The same shape in that order; the object itself where it is so already."""
    cdef bint is_word = isinstance(order, str)
    cdef axis_list axes
    if is_word and order == "K":
        axes = order_of_strides(given.native)
    else:
        axes = axes_of_order(order, given.native.ndim())
    if is_word and given.native.offset() == 0 and is_contiguous(given.native, axes):
        return given
    return wrap_layout(make_dense(given.native, axes))


cdef strided_layout layout_of_key(const strided_layout& native, object key) except *:
    """What a subscript leaves: integers, slices, Ellipsis and None, as NumPy understands them."""
    cdef subscript[2 * MOST_NUMBERS] entries
    cdef int count = 0, axis = 0, ndim = (<strided_layout*>&native).ndim(), missing
    cdef Py_ssize_t start = 0, stop = 0, step = 0, length
    cdef tuple keys = <tuple>key if isinstance(key, tuple) else (key,)
    cdef int taken = len([each for each in keys if each is not None and each is not ...])
    if keys.count(None) > max_ndim:
        raise ValueError(f"a subscript has at most {max_ndim} new axes, got {keys.count(None)}")
    if taken > ndim:
        raise ValueError(f"The number of slices ({taken}) is greater than the number of dimensions "
                         f"({ndim}).")
    missing = ndim - taken
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
            raise TypeError(f"Invalid slice: {each!r}. Expected slice instance or integer.")
        count += 1
    return sliced(native, subscripts(entries, count))


@cython.final
@cython.no_gc
@cython.freelist(32)
cdef class _StridedLayout:
    """_StridedLayout(shape, strides, itemsize, divide_strides=False)
--

Where the elements of a strided array lie in memory. Immutable; holds no memory.

Extents, strides and offsets count elements. Up to 64 dimensions.

Parameters
----------
shape : tuple of int
    The extent of each axis.
strides : tuple of int or None
    How far neighbours along each axis lie apart; None for C order without gaps, which is then not
    equal to the same layout with strides.
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
        self.native = layout_from(shape, strides, PyNumber_Index(itemsize), divide_strides)

    @staticmethod
    def dense(tuple shape, itemsize, stride_order="C"):
        """A layout without gaps.

        Host only.

        Parameters
        ----------
        shape : tuple of int
            The extent of each axis.
        itemsize : int
            The size of an element in bytes.
        stride_order : str or tuple of int, optional
            ``"C"``, ``"F"``, or all axes, the one whose elements are neighbours last.

        Returns
        -------
        _StridedLayout

        Raises
        ------
        ValueError
            If `stride_order` is not an order of the axes.
        """
        cdef strided_layout plain = layout_from(shape, None, PyNumber_Index(itemsize), False)
        return wrap_layout(make_dense(plain, axes_of_order(stride_order, plain.ndim())))

    @staticmethod
    def dense_like(_StridedLayout other, stride_order="K"):
        """A layout without gaps and offset, of the shape and element size of another one.

        Host only.

        Parameters
        ----------
        other : _StridedLayout
            Given back itself where nothing has to change.
        stride_order : str or tuple of int, optional
            As for `dense`, or ``"K"``: the order of the strides of `other`.

        Returns
        -------
        _StridedLayout
        """
        return without_gaps(other, stride_order)

    def to_dense(self, stride_order="K"):
        """The same shape and element size without gaps and offset, as `dense_like`. Host only.

        Parameters
        ----------
        stride_order : str or tuple of int, optional
            As for `dense_like`.

        Returns
        -------
        _StridedLayout
        """
        return without_gaps(self, stride_order)

    @property
    def ndim(self):
        """The number of axes. Host only."""
        return self.native.ndim()

    @property
    def shape(self):
        """The extent of each axis. Host only."""
        return as_tuple(self.native.extents(), self.native.ndim())

    @property
    def strides(self):
        """In elements; None where C order was implied. Host only."""
        if not self.native.has_strides():
            return None
        return as_tuple(self.native.strides(), self.native.ndim())

    @property
    def strides_in_bytes(self):
        """In bytes; None where C order was implied. Host only."""
        strides = self.strides
        if strides is None:
            return None
        found = tuple([stride * self.itemsize for stride in strides])
        for stride in found:
            if not -(2**63) <= stride < 2**63:
                raise OverflowError(f"a stride of {stride} bytes does not fit 64 bits")
        return found

    @property
    def itemsize(self):
        """The size of an element in bytes. Host only."""
        return self.native.itemsize()

    @property
    def slice_offset(self):
        """Where the first element lies, in elements. Host only."""
        return self.native.offset()

    @property
    def slice_offset_in_bytes(self):
        """Where the first element lies, in bytes. Host only."""
        return offset_in_bytes(self.native)

    @property
    def volume(self):
        """The number of elements; 1 without axes. Host only."""
        return volume(self.native)

    @property
    def stride_order(self):
        """The axes, that of the largest stride first; equal ones by larger extent. Host only."""
        cdef axis_list order = order_of_strides(self.native)
        return tuple([order[i] for i in range(order.count)])

    @property
    def is_contiguous_c(self):
        """Whether there are no gaps, in C order; extents of 1 do not count. Host only."""
        return is_contiguous_c(self.native)

    @property
    def is_contiguous_f(self):
        """Whether there are no gaps, in Fortran order; extents of 1 do not count. Host only."""
        return is_contiguous_f(self.native)

    @property
    def is_contiguous_any(self):
        """Whether there are no gaps, in some order. Host only."""
        return is_contiguous_any(self.native)

    @property
    def is_dense(self):
        """Whether there are neither gaps nor an offset. Host only."""
        return is_dense(self.native)

    @property
    def is_unique(self):
        """Whether no two elements share a place; False where that is not certain. Host only."""
        return is_unique(self.native)

    @property
    def offset_bounds(self):
        """The first and the last offset of an element; (0, -1) without elements. Host only."""
        cdef offset_range bounds = bounds_of(self.native)
        return bounds.first, bounds.last

    @property
    def min_offset(self):
        """The first offset of an element. Host only."""
        return bounds_of(self.native).first

    @property
    def max_offset(self):
        """The last offset of an element. Host only."""
        return bounds_of(self.native).last

    def required_size_in_bytes(self):
        """How much memory the layout needs, from offset 0 on. Host only.

        Returns
        -------
        int
            In bytes; 0 without elements.

        Raises
        ------
        ValueError
            If elements lie before offset 0.
        """
        return size_for(self.native)

    def reshaped(self, tuple shape):
        """The same elements in the same order under another shape.

        Host only.

        Parameters
        ----------
        shape : tuple of int
            One extent may be -1: what is left for it.

        Returns
        -------
        _StridedLayout

        Raises
        ------
        ValueError
            If the number of elements differs, or the strides allow it with a copy only.
        """
        cdef int64_t[MOST_NUMBERS] extents
        fill_numbers(extents, shape)
        return wrap_layout(reshaped(self.native, numbers(extents, len(shape))))

    def permuted(self, tuple axis_order):
        """The axes in another order.

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
            If that is no order of the axes.
        """
        cdef int64_t[MOST_NUMBERS] axes
        fill_numbers(axes, axis_order)
        return wrap_layout(permuted(self.native, numbers(axes, len(axis_order))))

    def flattened(self, start_axis=0, end_axis=-1, mask=None):
        """Neighbouring axes merged where a single stride serves them.

        Host only.

        Parameters
        ----------
        start_axis, end_axis : int, optional
            The range of axes to merge, both inclusive.
        mask : int, optional
            Instead of the range: bit i stands for merging axis i into the one before it.

        Returns
        -------
        _StridedLayout
            Of one axis where there was none.
        """
        cdef uint64_t bits
        if mask is None:
            bits = mask_of_range(self.native.ndim(), PyNumber_Index(start_axis),
                                 PyNumber_Index(end_axis))
        else:
            bits = PyNumber_Index(mask)
        return wrap_layout(flattened(self.native, bits))

    def flattened_axis_mask(self):
        """Which axes can be merged into those before them: bit i for axis i. Host only.

        Returns
        -------
        int
            Masks of layouts of the same number of axes can be and-ed.
        """
        return mask_of(self.native)

    def squeezed(self):
        """Without the axes of extent 1; shape ``(0,)`` without elements. Host only.

        Returns
        -------
        _StridedLayout
        """
        return wrap_layout(squeezed(self.native))

    def unsqueezed(self, axis):
        """With axes of extent 1 inserted.

        Host only.

        Parameters
        ----------
        axis : int or tuple of int
            Where the new axes are in the result.

        Returns
        -------
        _StridedLayout

        Raises
        ------
        ValueError
            If an axis is out of range, or named twice.
        """
        cdef int64_t[MOST_NUMBERS] axes
        added = (axis,) if PyIndex_Check(axis) else tuple(axis)
        if not added:
            return self
        fill_numbers(axes, added)
        return wrap_layout(unsqueezed(self.native, numbers(axes, len(added))))

    def broadcast_to(self, tuple shape):
        """With axes of extent 1 stretched, and new ones in front, by a stride of 0.

        Host only.

        Parameters
        ----------
        shape : tuple of int
            By NumPy's rules of broadcasting.

        Returns
        -------
        _StridedLayout

        Raises
        ------
        ValueError
            If another extent than 1 would have to change.
        """
        cdef int64_t[MOST_NUMBERS] extents
        fill_numbers(extents, shape)
        return wrap_layout(broadcast_to(self.native, numbers(extents, len(shape))))

    def repacked(self, itemsize, data_ptr=0, axis=-1, bint keep_dim=True):
        """The same bytes as elements of another size.

        Host only.

        Parameters
        ----------
        itemsize : int
            In bytes: a multiple or a divisor of the present one.
        data_ptr : int, optional
            The address of the memory, which must be aligned to larger elements.
        axis : int, optional
            The axis that is cut anew; its stride must be 1.
        keep_dim : bool, optional
            Whether that axis stays when its extent becomes 1.

        Returns
        -------
        _StridedLayout

        Raises
        ------
        ValueError
            If extents, strides, offset or address are not divisible as it takes.
        """
        cdef int64_t size = PyNumber_Index(itemsize)
        if size == self.native.itemsize():
            return self
        return wrap_layout(repacked(self.native, size, address_number(data_ptr),
                                    PyNumber_Index(axis), keep_dim))

    def max_compatible_itemsize(self, max_itemsize=16, data_ptr=0, axis=-1):
        """The largest size of elements that `repacked` takes, among the divisors of a number.

        Host only.

        Parameters
        ----------
        max_itemsize : int, optional
            That number, in bytes.
        data_ptr : int, optional
            The address of the memory.
        axis : int, optional
            The axis that would be cut anew.

        Returns
        -------
        int
            In bytes; the present size where no larger one does.
        """
        return max_compatible_itemsize(self.native, PyNumber_Index(max_itemsize),
                                       address_number(data_ptr), PyNumber_Index(axis))

    def sliced(self, slices):
        """Some of the elements: ``layout[slices]``.

        Host only.

        Parameters
        ----------
        slices : object
            An int, a slice, Ellipsis or None, or a tuple of them, as in NumPy. An int removes its
            axis; the offset moves.

        Returns
        -------
        _StridedLayout

        Raises
        ------
        ValueError
            If an int is out of range, or there are more entries than axes.
        """
        return wrap_layout(layout_of_key(self.native, slices))

    def __getitem__(self, key):
        return wrap_layout(layout_of_key(self.native, key))

    def __eq__(self, other):
        if not isinstance(other, _StridedLayout):
            return NotImplemented
        return self.native.equals((<_StridedLayout>other).native)

    __hash__ = None

    def __reduce__(self):
        raise TypeError("cannot pickle '_StridedLayout' object")

    def __repr__(self):
        offset = f", _slice_offset={self.slice_offset}" if self.slice_offset else ""
        return (f"_StridedLayout(shape={self.shape}, strides={self.strides}, "
                f"itemsize={self.itemsize}{offset})")


cdef int64_t address_number(object given) except? -1:
    """An address as a number with a sign, of which only the divisors count."""
    number = PyNumber_Index(given)
    return number - 2**64 if 2**63 <= number < 2**64 else number
