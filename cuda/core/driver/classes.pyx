# SPDX-License-Identifier: Apache-2.0
# What all classes of an extension have in common; called last, when all of them are there.

cdef extern from "python/classes/properties.hpp" namespace "halfwarp::python":
    int refuse_deletions(object) except -1

cdef extern from "python/classes/methods.hpp" namespace "halfwarp::python":
    int check_self_in_methods(object) except -1


def _complete_classes(dict names, str module):
    """Give the classes of an extension what Cython leaves out. Host only."""
    for each in list(names.values()):
        if isinstance(each, type) and each.__module__ == module:
            refuse_deletions(each)
            check_self_in_methods(each)


_complete_classes(globals(), __name__)
