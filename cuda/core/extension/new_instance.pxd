# SPDX-License-Identifier: Apache-2.0
# Instances of subclasses, whose `__new__` may be user code.

# Calls `cls.__new__(cls)`; raises TypeError unless it returns an instance of `base`. The caller
# checks that the instance is unused, and calls raise_used_instance() otherwise.
cdef object new_instance(object cls, object base)
cdef int raise_used_instance(object cls) except -1
