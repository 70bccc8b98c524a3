// SPDX-License-Identifier: Apache-2.0
// Creates default pools at their first use.
#include "emulator/driver/pools.hpp"

namespace halfwarp::emulator {

std::shared_ptr<memory_pool> default_pool(driver& d, const CUmemLocation& location,
                                          CUmemAllocationType type) {
  const bool is_on_device = location.type == CU_MEM_LOCATION_TYPE_DEVICE;
  const int home = is_on_device ? location.id : 0;
  auto& owner = *d.devices[static_cast<std::size_t>(home)];
  auto& slot = type == CU_MEM_ALLOCATION_TYPE_MANAGED ? owner.default_managed_pool
               : is_on_device                         ? owner.default_pool
                                                      : d.host_pool;
  if (!slot) {
    CUmemPoolProps properties{};
    properties.allocType = type;
    properties.location = location;
    slot = d.objects.make<memory_pool>(properties, home);
    slot->is_library_owned = true;
    d.pools.push_back(slot);
  }
  return slot;
}

void trim_pools(driver& d) {
  for (const auto& each : d.pools) each->trim_to_threshold();
  std::erase_if(d.pools, [](const auto& each) { return each->is_destroyed && each->live == 0; });
}

}  // namespace halfwarp::emulator
