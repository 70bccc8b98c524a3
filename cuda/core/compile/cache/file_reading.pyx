# SPDX-License-Identifier: Apache-2.0
# Reading of a cache's file with four system calls, in half the time of the module `os`.

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.errno cimport EINTR, errno
from libc.stdint cimport int64_t


cdef extern from "<fcntl.h>" nogil:
    const int O_CLOEXEC
    const int O_NOFOLLOW
    const int O_NONBLOCK
    const int O_RDONLY
    int open_file "open"(const char* path, int flags)

cdef extern from "<unistd.h>" nogil:
    unsigned geteuid()
    int close_file "close"(int number)
    Py_ssize_t read_file "read"(int number, void* target, size_t size)

cdef extern from "<sys/stat.h>" nogil:
    ctypedef struct file_time "timespec":
        int64_t tv_sec
        int64_t tv_nsec
    ctypedef struct file_status "struct stat":
        unsigned st_mode
        unsigned st_uid
        int64_t st_size
        file_time st_atim
        file_time st_mtim
    bint S_ISREG(unsigned mode)
    int status_of_path "stat"(const char* path, file_status* status)
    int status_of_file "fstat"(int number, file_status* status)

cdef extern from "Python.h":
    bytes PyUnicode_EncodeFSDefault(object)
    object PyErr_SetFromErrnoWithFilenameObject(object, object)

cdef enum:
    UNTRUSTED = -2


cdef bint is_trusted(const file_status* status, const char* root) noexcept nogil:
    """Return whether this user, root or the owner of a folder owns the file."""
    cdef file_status folder
    if status.st_uid == 0 or status.st_uid == geteuid():  # the second is a system call
        return True
    return status_of_path(root, &folder) == 0 and folder.st_uid == status.st_uid


cdef int open_trusted(const char* path, const char* root, file_status* status) noexcept nogil:
    """Return the number of the opened file, -1 with an `errno`, or UNTRUSTED."""
    # Does not follow a link, and does not block on a pipe.
    cdef int number = open_file(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    if number < 0:
        return -1
    if status_of_file(number, status) == 0 and S_ISREG(status.st_mode) and is_trusted(status, root):
        return number
    close_file(number)
    return UNTRUSTED


cdef int64_t read_all(int number, char* target, int64_t size) noexcept nogil:
    """Return the number of bytes until the end of the file or `size`; -1 with an `errno`."""
    cdef int64_t end = 0
    cdef Py_ssize_t part
    while end < size:
        part = read_file(number, target + end, <size_t>(size - end))
        if part < 0 and errno == EINTR:
            continue
        if part <= 0:
            return end if part == 0 else -1
        end += part
    return end


def read_trusted_file(str path not None, str root not None, int64_t latest):
    """Return a file's content and number, and its times of access and modification.

    Host only. Returns None for a file that is not regular, or whose owner is neither this user,
    root nor the owner of the folder `root`. If the time of access is `latest`, the file is closed,
    and its number is -1.
    """
    cdef bytes name = PyUnicode_EncodeFSDefault(path), folder = PyUnicode_EncodeFSDefault(root)
    cdef const char* raw_name = PyBytes_AS_STRING(name)
    cdef const char* raw_folder = PyBytes_AS_STRING(folder)
    cdef file_status status
    cdef int number
    cdef int64_t size
    with nogil:
        number = open_trusted(raw_name, raw_folder, &status)
    if number == UNTRUSTED:
        return None
    if number < 0:
        PyErr_SetFromErrnoWithFilenameObject(OSError, path)
    try:
        content = PyBytes_FromStringAndSize(NULL, status.st_size)
    except MemoryError:
        close_file(number)
        raise
    cdef char* target = PyBytes_AS_STRING(content)
    with nogil:
        size = read_all(number, target, status.st_size)
    if size < 0:
        try:
            PyErr_SetFromErrnoWithFilenameObject(OSError, path)
        finally:
            close_file(number)
    cdef int64_t used = status.st_atim.tv_sec * 1000000000 + status.st_atim.tv_nsec
    if used == latest:
        close_file(number)
        number = -1
    if size < status.st_size:  # another program truncated the file
        content = content[:size]
    return content, number, used, status.st_mtim.tv_sec * 1000000000 + status.st_mtim.tv_nsec
