# SPDX-License-Identifier: Apache-2.0
# What all wrappers of one graph share: the graph itself, its nodes, and what it keeps alive.

from cpython.object cimport PyObject


cdef extern from "python/lock/weak_reference.hpp" namespace "halfwarp::python":
    cppclass weak_reference:
        weak_reference() noexcept
        PyObject* get() noexcept
        int set(object) except -1
        void clear(PyObject*) noexcept


# Some of what a graph keeps, behind one user object of the driver: clones, executables and launches
# that the driver makes of the graph keep it as well. A list is only ever added to.
cdef class _KeptObjects:
    cdef list objects
    cdef Py_ssize_t first      # where those of the node begin that the list was taken for
    cdef Py_ssize_t users      # how many nodes have objects there
    cdef CUuserObject native

# What is known of one node beside what the driver tells.
cdef class _NodeState:
    cdef CUgraphNode raw
    cdef weak_reference wrapper  # the GraphNode, as long as anybody holds it
    cdef _KeptObjects among    # where what the node uses is kept; None for nothing
    cdef Py_ssize_t first      # the first of its objects there
    cdef Py_ssize_t count
    cdef object made_as        # of conditional nodes: (class, GraphCondition, bodies)

cdef class _GraphState:
    # What keeps `raw`: the graph, or the one that it is a part of. Null during a capture, where the
    # driver has it.
    cdef graph_handle top
    cdef CUgraph raw
    cdef shared_graph_lock lock    # of the whole graph; for every call that is given a part of it
    cdef bint is_valid             # False after its owner went
    cdef list added                # the _NodeStates of new nodes, which are not in `nodes` yet
    cdef dict nodes                # address of the node: _NodeState; read it with nodes_by_address
    cdef dict parts                # address of a child graph or body: its _GraphState
    cdef _KeptObjects kept         # with room for more; None: the next one gets a new list
    cdef LaunchConfig shape        # of the last kernel node, never changed: shared by those alike
    cdef object __weakref__
