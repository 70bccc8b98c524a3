# SPDX-License-Identifier: Apache-2.0
"""The extension behind `cuda.core`: one theme a folder, one concept a file."""

cimport cython

include "driver/start.pyx"
include "driver/errors.pyx"
include "driver/options.pyx"
include "driver/bindings_objects.pyx"
include "execution/context.pyx"
include "execution/stream/event.pyx"
include "execution/stream/stream.pyx"
include "execution/stream/stream_protocol.pyx"
include "execution/stream/default_stream.pyx"
include "execution/stream/host_call.pyx"
include "execution/device_properties.pyx"
include "execution/device.pyx"
include "execution/thread_devices.pyx"
