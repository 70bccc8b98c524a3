# SPDX-License-Identifier: Apache-2.0
# Reference-counted driver handles of cpp/core.


cdef extern from "core/lifetime/process.hpp" namespace "halfwarp::core" nogil:
    void after_fork_in_child() noexcept
    void set_exiting "halfwarp::core::is_exiting.store"(bint) noexcept
    void set_stuck "halfwarp::core::is_stuck.store"(bint) noexcept


cdef extern from "core/module/library.hpp" namespace "halfwarp::core" nogil:
    void unload_unused_libraries() noexcept


cdef extern from "core/context.hpp" namespace "halfwarp::core" nogil:
    cppclass context_facts:
        CUdevice device
        bint is_green() noexcept
    cppclass context_ref:
        CUcontext raw() noexcept
        bint is_open() noexcept
        bint is_owned() noexcept
        bint is_of_this_process() noexcept
        context_facts& facts() noexcept
        context_handle share() noexcept
    cppclass context_handle(context_ref):
        context_handle() noexcept
        context_handle take() noexcept
        void reset() noexcept
    struct priority_range:
        int least
        int greatest
    cppclass context_instance:
        context_instance() noexcept
        context_instance(context_handle) noexcept
        const context_handle& context() noexcept
        CUcontext raw() noexcept
        bint is_open() noexcept
    bint is_destroyed(const context_ref&) noexcept
    context_handle create_green_context(CUdevice, const CUdevResource*, unsigned count) \
        except +translate_exception
    void get_resource(const context_ref&, CUdevResource*, CUdevResourceType) \
        except +translate_exception
    context_handle retain_primary_context(CUdevice) except +translate_exception
    context_handle adopt_current_context(CUdevice) except +translate_exception
    context_handle current_context() except +translate_exception
    context_handle context_of_raw "halfwarp::core::context_of"(CUcontext) \
        except +translate_exception
    CUcontext raw_current_context() except +translate_exception
    priority_range stream_priorities(const context_ref&) except +translate_exception
    void get_memory_info(const context_ref&, size_t* free_bytes, size_t* total) \
        except +translate_exception
    void synchronize_context(const context_ref&) except +translate_exception
    cppclass entered_context "halfwarp::core::current_scope":
        entered_context(CUcontext) except +translate_exception


cdef extern from "core/event.hpp" namespace "halfwarp::core" nogil:
    cppclass event_facts:
        unsigned flags
        bint is_timing_enabled() noexcept
        bint is_blocking_sync() noexcept
        bint is_ipc_enabled() noexcept
        bint is_imported
    cppclass event_ref:
        CUevent raw() noexcept
        bint is_open() noexcept
        event_facts& facts() noexcept
        const context_instance& parent() noexcept
    cppclass event_handle(event_ref):
        event_handle() noexcept
        event_handle take() noexcept
        void reset() noexcept
    event_handle borrow_event "halfwarp::core::event_handle::borrow"(CUevent) \
        except +translate_exception
    event_handle create_event(context_instance, unsigned flags) except +translate_exception


cdef extern from "core/stream.hpp" namespace "halfwarp::core" nogil:
    cppclass stream_ref:
        CUstream raw() noexcept
        bint is_open() noexcept
        bint is_owned() noexcept
        const context_instance& parent() noexcept
    cppclass stream_handle(stream_ref):
        stream_handle() noexcept
        stream_handle take() noexcept
        void reset() noexcept
    bint is_default_stream(CUstream) noexcept
    stream_handle create_stream(const context_ref&, unsigned flags, int priority) \
        except +translate_exception
    context_handle context_of_stream "halfwarp::core::context_of"(const stream_ref&) \
        except +translate_exception
    bint is_nonblocking(const stream_ref&) except +translate_exception
    int priority_of(const stream_ref&) except +translate_exception
    void invalidate_priority(const stream_ref&) noexcept
    event_handle record_event(const stream_ref&, unsigned flags) except +translate_exception
    void wait_for_stream(const stream_ref&, const stream_ref&) except +translate_exception


# Handle of a Python object: borrow it for a driver call, share it beyond the call.
cdef extern from "python/objects.hpp" namespace "halfwarp::python":
    cppclass borrowed_context(context_ref):
        borrowed_context() noexcept
    cppclass borrowed_event(event_ref):
        borrowed_event() noexcept
    cppclass borrowed_stream(stream_ref):
        borrowed_stream() noexcept
    cppclass held[Handle, Borrowed]:
        Borrowed borrow(object owner) noexcept
        Borrowed borrow_open(object owner) except +translate_exception
        Handle share(object owner) noexcept
        Handle share_open(object owner) except +translate_exception
        bint is_open(object owner) noexcept
        void check_open(object owner) except +translate_exception
        void close(object owner) noexcept
        void hold(object owner, Handle) noexcept


# State that a constructor sets once: `get` raises RuntimeError for an object that has none.
cdef extern from "python/lock/initialized.hpp" namespace "halfwarp::python":
    cppclass initialized[Value]:
        void check(object owner) except +
        Value& get(object owner) except +
        bint is_set() noexcept nogil
        const Value& value_or_null() noexcept nogil
        void set(Value) noexcept

ctypedef held[context_handle, borrowed_context] held_context
ctypedef initialized[context_handle] initialized_context
ctypedef held[event_handle, borrowed_event] held_event
ctypedef held[stream_handle, borrowed_stream] held_stream


cdef extern from "python/objects.hpp" namespace "halfwarp::python":
    int register_stream_class "halfwarp::python::register_class"(object, const held_stream*) \
        except -1


cdef extern from "python/foreign/foreign_stream.hpp" namespace "halfwarp::python":
    stream_handle stream_owned_by(CUstream, object owner) except +translate_exception


cdef extern from "python/lock/sharing.hpp" namespace "halfwarp::python":
    Handle share[Handle](object owner, const Handle&) noexcept
    void release[Handle](object owner, Handle&) noexcept
