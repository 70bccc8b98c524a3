# SPDX-License-Identifier: Apache-2.0
# References that a graph holds to objects used by its captured operations.


cdef CUuserObject retain_object_in_graph(CUgraph graph, object operand) except NULL:
    return retain_in_graph(NULL, graph, make_host_call(operand), release_host_call)


@cython.final
cdef class _CaptureReferences:
    """The list of objects that one capture retains, cached for its next operation."""

    cdef unsigned long long id
    cdef CUgraph graph
    cdef list objects   # None: no capture is cached

    cdef list find(self, const capture_info& capture):
        cdef list objects
        if captures_under_way() == 0:  # no builder would invalidate the cache at the end
            objects = []
            retain_object_in_graph(capture.graph, objects)
            return objects
        with cython.critical_section(self):
            objects = self.objects
            if objects is None or self.id != capture.id or self.graph != capture.graph:
                objects = []
                retain_object_in_graph(capture.graph, objects)
                self.id, self.graph, self.objects = capture.id, capture.graph, objects
        return objects


# References of the most recent capture, until a builder ends.
cdef _CaptureReferences last_capture = _CaptureReferences.__new__(_CaptureReferences)


cdef int count_builder_captures(int change) except -1:
    count_capture(change)
    with cython.critical_section(last_capture):
        last_capture.objects = None


cdef list references_of_capture(const stream_ref& stream):
    cdef capture_info capture
    check(find_capture(stream, capture), "cuStreamGetCaptureInfo")
    if capture.status != CU_STREAM_CAPTURE_STATUS_ACTIVE:
        return None
    return last_capture.find(capture)


cdef int retain_in_capture(const stream_ref& stream, object operand) except -1:
    cdef list objects = references_of_capture(stream)
    if objects is None:
        return 0
    objects.append(operand)
    return 1
