# SPDX-License-Identifier: Apache-2.0
# What all classes of the extension have in common; included last, when all of them are there.

cdef extern from "python/properties.hpp" namespace "halfwarp::python":
    int refuse_deletions(object) except -1


for each in list(globals().values()):
    if isinstance(each, type) and each.__module__ == __name__:
        refuse_deletions(each)
del each
