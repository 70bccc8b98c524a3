# SPDX-License-Identifier: Apache-2.0
"""Examples of the page on textures."""

import numpy as np
from cuda.core import Device
from cuda.core.texture import ResourceDescriptor

device = Device()
device.set_current()
stream = device.create_stream()
picture = np.arange(12, dtype=np.float32).reshape(3, 4)

# example: texture.OpaqueArray, texture.OpaqueArrayOptions
from cuda.core.texture import OpaqueArrayOptions

options = OpaqueArrayOptions((4, 3), "float32", num_channels=1, is_surface_load_store=True)
array = device.create_opaque_array(options)
array.copy_from(picture, stream=stream)
array.copy_to(picture, stream=stream)

# example: texture.ResourceDescriptor
resource = ResourceDescriptor.from_opaque_array(array)
assert resource.source is array

# example: texture.TextureObject, texture.TextureObjectOptions
from cuda.core.texture import TextureObjectOptions

options = TextureObjectOptions(filter_mode="linear", address_mode="clamp")
texture = device.create_texture_object(resource=resource, options=options)  # pass it to launch()

# example: texture.SurfaceObject
surface = device.create_surface_object(resource=resource)
surface.close()

# example: texture.MipmappedArray, texture.MipmappedArrayOptions
from cuda.core.texture import MipmappedArrayOptions

levels = MipmappedArrayOptions((4, 4), "float32", num_channels=1, num_levels=3)
pyramid = device.create_mipmapped_array(levels)
assert pyramid.get_level(1).shape == (2, 2)
stream.sync()
texture.close()
