# SPDX-License-Identifier: Apache-2.0
# References that a graph holds to objects used by its captured operations.

# Counts a builder when its capture begins (1) or ends (-1); the end drops the cached list.
cdef int count_builder_captures(int change) except -1

# Returns the list of objects retained by the graph being captured; None without a capture.
cdef list references_of_capture(const stream_ref& stream)

# Makes the graph being captured retain an object; returns 0 without a capture.
cdef int retain_in_capture(const stream_ref& stream, object operand) except -1

# Makes a graph retain an object; returns the CUDA user object.
cdef CUuserObject retain_object_in_graph(CUgraph graph, object operand) except NULL
