# SPDX-License-Identifier: Apache-2.0
# State shared by all wrappers of one graph: handle, lock, nodes and retained objects.

from cpython.object cimport PyObject


cdef extern from "python/lock/weak_reference.hpp" namespace "halfwarp::python":
    cppclass weak_reference:
        weak_reference() noexcept
        PyObject* get() noexcept
        int set(object) except -1
        void clear(PyObject*) noexcept


# A list of objects that a CUDA user object of the graph retains. Clones, executable graphs and
# launches share the user object, so objects are only appended to a list.
cdef class _RetainedObjects:
    cdef list objects
    cdef Py_ssize_t first      # index of the first object of the node being added
    cdef Py_ssize_t users      # number of nodes with objects in the list
    cdef CUuserObject native

# Facts about one node that the driver does not report.
cdef class _NodeState:
    cdef CUgraphNode raw
    cdef weak_reference wrapper      # the live GraphNode of the node, if any
    cdef _RetainedObjects retained   # holds the node's operands; None: the node has none
    cdef Py_ssize_t first            # index of the node's first object in `retained`
    cdef Py_ssize_t count
    # Conditional nodes: (class, GraphCondition, bodies); memcpy nodes: the owners of both sides;
    # child nodes: the child's _GraphState, or its `origins` while no wrapper exists.
    cdef object creation

cdef class _GraphState:
    # Owns `raw`: the graph itself, or the graph that contains it. Null during a capture, when the
    # driver owns the graph.
    cdef graph_handle owner
    cdef CUgraph raw
    cdef shared_graph_lock lock    # shared with all subgraphs; every driver call on them holds it
    cdef bint is_valid             # False once the owner was destroyed
    cdef list added                # _NodeStates of new nodes that are not in `nodes` yet
    cdef dict nodes                # node address: _NodeState; read through nodes_by_address
    # Child graphs, which are copies: local id: _NodeState of a node without a wrapper. None: no
    # copied node retains anything.
    cdef dict origins
    cdef dict subgraphs            # address of a child graph or body: its _GraphState
    cdef _RetainedObjects open_list  # accepts more objects; None: the next node creates a list
    cdef LaunchConfig shape        # of the last kernel node; immutable, shared by equal nodes
    cdef object __weakref__
