# SPDX-License-Identifier: Apache-2.0
"""Sharing of memory and events with other processes. Linked into `cuda.core._core`."""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.exc cimport PyErr_SetFromErrno
from libc.errno cimport errno
from libc.string cimport memcpy

import os
from importlib import import_module
from threading import RLock
from uuid import UUID, uuid4
from weakref import WeakKeyDictionary, WeakValueDictionary

from cuda.core._core cimport *

from cuda.core._core import CUDAError, _complete_classes

include "sharing/allocation_handle.pyx"
include "sharing/descriptors.pyx"
include "sharing/registry.pyx"
include "sharing/pools.pyx"
include "sharing/virtual_memory.pyx"
include "sharing/buffers.pyx"
include "sharing/events.pyx"

_complete_classes(globals(), __name__)
