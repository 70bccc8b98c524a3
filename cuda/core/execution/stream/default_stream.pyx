# SPDX-License-Identifier: Apache-2.0
# The two default-stream tokens, and the choice between them.

from libc.stdlib cimport getenv, strtol

LEGACY_DEFAULT_STREAM = Stream._legacy_default()
PER_THREAD_DEFAULT_STREAM = Stream._per_thread_default()

cdef Stream chosen_default = None


cdef Stream default_stream_object():
    global chosen_default
    if chosen_default is None:
        setting = getenv("CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM")
        is_per_thread = setting is not NULL and strtol(setting, NULL, 10) != 0
        chosen_default = PER_THREAD_DEFAULT_STREAM if is_per_thread else LEGACY_DEFAULT_STREAM
    return chosen_default


def default_stream():
    """Return the stream that is used by default.

    Host only. The result is the legacy default stream, or the per-thread default stream if the
    environment variable ``CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM`` was a non-zero number at the
    first call.

    Returns
    -------
    Stream
        The same object each time.
    """
    return default_stream_object()
