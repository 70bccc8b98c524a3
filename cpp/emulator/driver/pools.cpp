// SPDX-License-Identifier: Apache-2.0
// Makes default pools when they are first asked for.
#include "emulator/driver/pools.hpp"

namespace halfwarp::emulator {

std::shared_ptr<memory_pool> default_pool(driver& d, const CUmemLocation& where,
                                          CUmemAllocationType type) {
  const bool is_on_device = where.type == CU_MEM_LOCATION_TYPE_DEVICE;
  const int home = is_on_device ? where.id : 0;
  auto& of = *d.devices[static_cast<std::size_t>(home)];
  auto& slot = type == CU_MEM_ALLOCATION_TYPE_MANAGED ? of.default_managed_pool
               : is_on_device                         ? of.default_pool
                                                      : d.host_pool;
  if (!slot) {
    CUmemPoolProps properties{};
    properties.allocType = type;
    properties.location = where;
    slot = d.objects.make<memory_pool>(properties, home);
    slot->is_library_owned = true;
    d.pools.push_back(slot);
  }
  return slot;
}

void settle_pools(driver& d) {
  for (const auto& each : d.pools) each->trim_to_threshold();
  std::erase_if(d.pools, [](const auto& each) { return each->is_destroyed && each->live == 0; });
}

}  // namespace halfwarp::emulator
