// SPDX-License-Identifier: Apache-2.0
// The launch attributes of a kernel node, as they were set or captured.
#pragma once

#include <cuda.h>

#include <map>

namespace halfwarp::emulator {

class node_attributes {
 public:
  // Whether cuda.h names the attribute for kernel nodes.
  static bool is_known(CUlaunchAttributeID id) noexcept;

  // What nobody set is what a launch without attributes has.
  CUlaunchAttributeValue get(CUlaunchAttributeID id) const noexcept;
  void set(CUlaunchAttributeID id, const CUlaunchAttributeValue& value) { set_[id] = value; }

  // Takes what another has set.
  void merge(const node_attributes& other) {
    for (const auto& [id, value] : other.set_) set_[id] = value;
  }

  bool is_cooperative() const noexcept { return get(CU_LAUNCH_ATTRIBUTE_COOPERATIVE).cooperative; }
  int priority() const noexcept { return get(CU_LAUNCH_ATTRIBUTE_PRIORITY).priority; }

 private:
  std::map<CUlaunchAttributeID, CUlaunchAttributeValue> set_;
};

}  // namespace halfwarp::emulator
