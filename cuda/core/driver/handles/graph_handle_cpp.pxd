# SPDX-License-Identifier: Apache-2.0
# Graph handles of cpp/core, and queries of a stream that is being captured.

from cuda.bindings.cydriver cimport (
    CU_STREAM_CAPTURE_STATUS_ACTIVE,
    CU_STREAM_CAPTURE_STATUS_INVALIDATED,
    CUgraph,
    CUgraphEdgeData,
    CUgraphExec,
    CUgraphNode,
    CUuserObject,
)


cdef extern from "cuda.h" nogil:
    ctypedef struct CUDA_GRAPH_INSTANTIATE_PARAMS:
        unsigned long long flags
        CUstream hUploadStream
        CUgraphNode hErrNode_out
        int result_out


cdef extern from "core/graph/graph_lock.hpp" namespace "halfwarp::core" nogil:
    cppclass graph_lock:
        graph_lock() noexcept
        void wait() noexcept
    cppclass shared_graph_lock:
        shared_graph_lock() noexcept
        graph_lock* get() noexcept
    shared_graph_lock make_graph_lock() except +
    cppclass graph_watch:
        void follow(const shared_graph_lock&) noexcept
        bint is_gone() noexcept
    cppclass graph_hold:
        graph_hold() noexcept
        graph_hold(const shared_graph_lock&) noexcept
        graph_hold(const shared_graph_lock&, const shared_graph_lock&) noexcept
    # call_alone(lock, driver.cuX, ...) and try_call_alone hold a lock during call and try_call.
    void call_alone(...) except +translate_exception
    CUresult try_call_alone(...) noexcept


cdef extern from "core/graph/graph.hpp" namespace "halfwarp::core" nogil:
    cppclass graph_handle:
        graph_handle() noexcept
        CUgraph raw() noexcept
        bint is_open() noexcept
        bint is_of_this_process() noexcept
        graph_handle take() noexcept
        void reset() noexcept
    cppclass graph_exec_ref:
        CUgraphExec raw() noexcept
        bint is_open() noexcept
        bint is_of_this_process() noexcept
    cppclass graph_exec_handle(graph_exec_ref):
        graph_exec_handle() noexcept
        graph_exec_handle take() noexcept
    struct capture_info:
        CUstreamCaptureStatus status
        unsigned long long id
        CUgraph graph
        const CUgraphNode* last
        const CUgraphEdgeData* edges
        size_t count
    graph_handle create_graph() except +translate_exception
    graph_handle own_graph(CUgraph) except +translate_exception
    graph_exec_handle instantiate(graph_lock&, CUgraph, CUDA_GRAPH_INSTANTIATE_PARAMS&) \
        except +translate_exception
    CUresult find_capture(const stream_ref&, capture_info&) noexcept
    CUresult continue_after(const stream_ref&, CUgraphNode) noexcept
    CUuserObject retain_in_graph(graph_lock*, CUgraph, void*, void (*release)(void*)) \
        except +translate_exception
    void abandon_capture(const stream_ref&) noexcept
    void leave_capture(const stream_ref&) noexcept


cdef extern from "python/objects.hpp" namespace "halfwarp::python":
    cppclass borrowed_graph_exec(graph_exec_ref):
        borrowed_graph_exec() noexcept

ctypedef held[graph_exec_handle, borrowed_graph_exec] held_graph_exec
