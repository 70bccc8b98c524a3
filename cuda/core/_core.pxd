# SPDX-License-Identifier: Apache-2.0
# The cimport contract of cuda.core: what other extensions may use, part by part.

include "driver/driver.pxd"
include "driver/handles.pxd"
include "driver/errors.pxd"
include "driver/options.pxd"
include "driver/bindings_objects.pxd"
include "execution/context.pxd"
include "execution/stream/event.pxd"
include "execution/stream/stream.pxd"
include "execution/stream/stream_protocol.pxd"
include "execution/device_properties.pxd"
include "execution/device.pxd"
include "memory/pool_handles.pxd"
include "memory/memory_resource.pxd"
include "memory/buffer.pxd"
include "memory/device_pool.pxd"
include "memory/synchronous_resources.pxd"
