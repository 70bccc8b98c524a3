# SPDX-License-Identifier: Apache-2.0
# The two default-stream tokens, and the choice between them.

from libc.stdlib cimport getenv, strtol

LEGACY_DEFAULT_STREAM = Stream._legacy_default()
PER_THREAD_DEFAULT_STREAM = Stream._per_thread_default()


class _Omitted:
    """The default of `stream`, which `inspect.signature` shows."""

    __slots__ = ()

    def __repr__(self):
        return "..."


NOT_GIVEN = _Omitted()


cdef Stream default_stream_object():
    setting = getenv("CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM")
    is_per_thread = setting is not NULL and strtol(setting, NULL, 10) != 0
    return PER_THREAD_DEFAULT_STREAM if is_per_thread else LEGACY_DEFAULT_STREAM


def default_stream():
    """Return the stream that is used by default.

    Host only. The result is the legacy default stream, or the per-thread default stream if the
    environment variable ``CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM`` is a non-zero number.

    Returns
    -------
    Stream
        `LEGACY_DEFAULT_STREAM` or `PER_THREAD_DEFAULT_STREAM`.
    """
    return default_stream_object()


cdef Stream stream_or_default(object stream_arg, str call):
    if stream_arg is NOT_GIVEN:
        warn_deprecated(f"{call} without a stream", "stream=device.default_stream")
        return default_stream_object()
    return accept_stream(stream_arg)
