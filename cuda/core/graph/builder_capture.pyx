# SPDX-License-Identifier: Apache-2.0
# The capture of a builder: begin, end, and the checks of its stage.

from cuda.bindings.cydriver cimport CUstreamCaptureMode


cdef int check_ended(GraphBuilder self) except -1:
    check_builder_open(self)
    if self.stage != ENDED or self.kind == FORKED:
        begin = "begin_building(), record the work, and call " * (self.stage == NOT_STARTED)
        raise RuntimeError(f"Graph has not finished building. Call {begin}end_building() first.")


cdef object not_building(GraphBuilder self):
    advice = "Call begin_building() first."
    if self.stage == ENDED:
        advice = "Its capture has ended: complete() creates the graph."
    return RuntimeError(f"Graph builder is not building. {advice}")


cdef int raise_invalidated_capture() except -1:
    cause = capture_error_text()
    raise RuntimeError(
        "Build process encountered an error and has been invalidated. Build process must now be "
        "ended: call close()" + (f". {cause}" if cause else ""))


cdef bint is_capturing_now(GraphBuilder self) except -1:
    cdef capture_info capture
    if self.stage != CAPTURING:
        return False
    cdef borrowed_stream stream = self.native.borrow_open(self)
    check(find_capture(stream, capture), "cuStreamGetCaptureInfo")
    if capture.status == CU_STREAM_CAPTURE_STATUS_INVALIDATED:
        raise_invalidated_capture()
    return capture.status == CU_STREAM_CAPTURE_STATUS_ACTIVE


cdef bint find_active_capture(GraphBuilder self, capture_info* capture) except -1:
    check_builder_open(self)
    if self.stage != CAPTURING:
        return False
    cdef borrowed_stream stream = self.native.borrow_open(self)
    check(find_capture(stream, capture[0]), "cuStreamGetCaptureInfo")
    if capture.status == CU_STREAM_CAPTURE_STATUS_INVALIDATED:
        raise_invalidated_capture()
    return capture.status == CU_STREAM_CAPTURE_STATUS_ACTIVE


cdef int begin_capture(GraphBuilder self, int mode, bint retain_operands) except -1:
    cdef capture_info capture
    cdef CUresult code
    cdef borrowed_stream stream = self.native.borrow_open(self)
    cdef _GraphState graph = self.graph
    if self.kind == PRIMARY:  # before the capture begins, since it may run out of memory
        graph = _GraphState.__new__(_GraphState)
    if captures_under_way() == 0:
        clear_capture_error()
    if self.kind == BODY:
        if not self.graph.is_valid:
            raise RuntimeError("GraphDefinition is no longer valid: the builder that this body "
                               "belongs to was closed")
        call(driver.cuStreamBeginCaptureToGraph, stream.raw(), self.graph.raw, NULL, NULL,
             <size_t>0, <CUstreamCaptureMode>mode)
    else:
        call(driver.cuStreamBeginCapture, stream.raw(), <CUstreamCaptureMode>mode)
    self.stage = CAPTURING
    count_builder(self, retain_operands)
    if self.kind == PRIMARY:
        code = find_capture(stream, capture)
        if code != CUDA_SUCCESS:  # the builder cannot end a capture without knowing its graph
            end_capture_quietly(self)
            count_builder(self, False)
            self.stage = NOT_STARTED
            check(code, "cuStreamGetCaptureInfo")
        graph.raw, graph.is_valid = capture.graph, True
        self.graph = graph


cdef int count_builder(GraphBuilder self, bint is_counted) except -1:
    if is_counted != self.is_counted:
        count_builder_captures(1 if is_counted else -1)
        self.is_counted = is_counted


cdef int end_capture(GraphBuilder self) except -1:
    cdef CUgraph built = NULL
    cdef CUresult code
    cdef borrowed_stream stream = self.native.borrow_open(self)
    cdef graph_handle owner
    with nogil:
        code = try_call(driver.cuStreamEndCapture, stream.raw(), &built)
    if code != CUDA_SUCCESS:
        error = driver_error(code, "cuStreamEndCapture")
        cause = capture_error_text()
        if cause and not cause.startswith("cuStreamEndCapture"):
            error.add_note(f"The capture was invalidated when {cause}")
        raise error
    count_builder(self, False)
    self.stage = ENDED
    if self.kind == PRIMARY:
        owner = own_graph(built)
        self.graph.raw = built
        set_graph_owner(self.graph, owner)


cdef int close_builder(GraphBuilder self) except -1:
    """Close the builders of bodies first, since their graphs are destroyed with this graph."""
    if self.stage == CAPTURING and self.bodies is not None:
        for each in list(self.bodies):
            (<GraphBuilder>each).close()
    end_quietly(self)
    self.native.close(self)
    if self.owns_stream:
        self.captured_stream.close()
    self.origin = self.bodies = self.graph = None


cdef int end_quietly(GraphBuilder self) except -1:
    """End a capture in any state and discard its nodes."""
    cdef bint was_capturing = self.stage == CAPTURING
    self.stage = CLOSED
    count_builder(self, False)
    if was_capturing and self.kind != FORKED:
        end_capture_quietly(self)
        if self.kind == PRIMARY:
            invalidate_graph(self.graph)


cdef int end_capture_quietly(GraphBuilder self) except -1:
    cdef borrowed_stream stream
    if self.kind == FORKED:
        return 0
    stream = self.native.borrow(self)
    if stream.is_open():
        if self.kind == BODY:
            leave_capture(stream)
        else:
            abandon_capture(stream)
