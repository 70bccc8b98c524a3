# SPDX-License-Identifier: Apache-2.0
# Conversion of element types between DLPack, NumPy, ml_dtypes and typestrs.

# (code, bits) of DLPack -> argument of numpy.dtype().
cdef dict NUMPY_TYPES = {
    (0, 8): "i1", (0, 16): "i2", (0, 32): "i4", (0, 64): "i8",
    (1, 8): "u1", (1, 16): "u2", (1, 32): "u4", (1, 64): "u8",
    (2, 16): "f2", (2, 32): "f4", (2, 64): "f8",
    (5, 64): "c8", (5, 128): "c16",
    (6, 8): "b1",
}
# (code, bits) of DLPack -> name in ml_dtypes.
cdef dict ML_TYPES = {
    (0, 2): "int2", (0, 4): "int4", (1, 2): "uint2", (1, 4): "uint4",
    (4, 16): "bfloat16",
    (7, 8): "float8_e3m4", (8, 8): "float8_e4m3", (9, 8): "float8_e4m3b11fnuz",
    (10, 8): "float8_e4m3fn", (11, 8): "float8_e4m3fnuz", (12, 8): "float8_e5m2",
    (13, 8): "float8_e5m2fnuz", (14, 8): "float8_e8m0fnu",
    (15, 6): "float6_e2m3fn", (16, 6): "float6_e3m2fn", (17, 4): "float4_e2m1fn",
}
cdef dict CODE_OF_KIND = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
cdef dict CODE_OF_ML_TYPE = {name: code for code, name in ML_TYPES.items()}
cdef dict known_dtypes = {}  # cache: (code, bits) -> numpy.dtype


cdef object numpy_module():
    return import_module("numpy")


cdef object dtype_of_element(data_type element):
    """Return the numpy.dtype of a DLPack element type."""
    if element.lanes != 1:
        raise NotImplementedError(f"elements of {element.lanes} lanes have no dtype")
    key = (element.code, element.bits)
    if key in known_dtypes:
        return known_dtypes[key]
    if key in NUMPY_TYPES:
        dtype = numpy_module().dtype(NUMPY_TYPES[key])
    elif key in ML_TYPES:
        name = ML_TYPES[key]
        try:
            dtype = numpy_module().dtype(getattr(import_module("ml_dtypes"), name))
        except (ImportError, AttributeError) as error:
            raise NotImplementedError(
                f"{name} requires `ml_dtypes` with that type: pip install ml_dtypes") from error
    else:
        raise TypeError(f"elements of DLPack's type code {element.code} and {element.bits} bits "
                        "have no dtype")
    known_dtypes[key] = dtype
    return dtype


cdef void element_of_dtype(object dtype, data_type* element) except *:
    """Set the DLPack element type of a dtype; bits is 0 if there is none."""
    cdef int bits = 8 * dtype.itemsize
    element.bits = 0
    if not dtype.isnative:
        return
    key = CODE_OF_ML_TYPE.get(dtype.name) if dtype.kind in "Vf" else None
    if key is None:
        code = CODE_OF_KIND.get(dtype.kind)
        key = (code, bits)
        if key not in NUMPY_TYPES:
            return
    element.code, element.bits = key
    element.lanes = 1


cdef int itemsize_of_element(data_type element, bint is_padded) except 0:
    cdef int bits = element.bits * element.lanes
    if 0 < element.bits < 8 and is_padded:
        bits = 8 * element.lanes
    if bits == 0 or bits % 8:
        raise ValueError(f"elements of {element.bits} bits and {element.lanes} lanes do not occupy "
                         "a whole number of bytes")
    return bits // 8


cdef bint has_dtype(StridedMemoryView self) except -1:
    return self.type_object is not None or self.type_text is not None or self.element.bits != 0


cdef object find_dtype(StridedMemoryView self):
    if self.type_text is not None:
        return numpy_module().dtype(self.type_text)
    if self.element.bits:
        return dtype_of_element(self.element)
    return None


cdef str typestr_of(StridedMemoryView self):
    """Return the typestr of a view; a void type of the element size if there is no other."""
    if self.type_text is not None:
        return self.type_text
    if self.type_object is not None:
        return self.type_object.str
    known = NUMPY_TYPES.get((self.element.code, self.element.bits)) if self.element.bits else None
    if known is None or self.element.lanes != 1:
        return f"|V{self.native.itemsize()}"
    return f"|{known}" if self.native.itemsize() == 1 else f"<{known}"
