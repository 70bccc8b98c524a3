# SPDX-License-Identifier: Apache-2.0
# Instances of subclasses, whose `__new__` may be user code.

from cpython.object cimport PyObject_TypeCheck, PyTypeObject


cdef object new_instance(object cls, object base):
    instance = cls.__new__(cls)
    if not PyObject_TypeCheck(instance, <PyTypeObject*>base):  # isinstance() accepts `__class__`
        raise TypeError(f"{cls.__qualname__}.__new__() must return a {base.__name__}, got "
                        f"{qualified_name(instance)}; return super().__new__(cls)")
    return instance


cdef int raise_used_instance(object cls) except -1:
    raise TypeError(f"{cls.__qualname__}.__new__() must return a new object, got one in use or "
                    "closed; return super().__new__(cls)")
