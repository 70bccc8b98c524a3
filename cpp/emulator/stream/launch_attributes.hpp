// SPDX-License-Identifier: Apache-2.0
// The attributes of a launch, of a kernel node or of a stream, as they were set or captured.
#pragma once

#include <cuda.h>

#include <map>
#include <string>

namespace halfwarp::emulator {

class launch_attributes {
 public:
  // Whether cuda.h says that kernel nodes, streams or launches have the attribute.
  static bool is_of_nodes(CUlaunchAttributeID id) noexcept;
  static bool is_of_streams(CUlaunchAttributeID id) noexcept;
  static bool is_of_launches(CUlaunchAttributeID id) noexcept;

  // Why a driver does not take a value; empty: it does.
  static std::string refusal(CUlaunchAttributeID id, const CUlaunchAttributeValue& value);

  // What nobody set is what a launch without attributes has.
  CUlaunchAttributeValue get(CUlaunchAttributeID id) const noexcept;
  void set(CUlaunchAttributeID id, const CUlaunchAttributeValue& value) { set_[id] = value; }

  // Takes what another has set.
  void merge(const launch_attributes& other) {
    for (const auto& [id, value] : other.set_) set_[id] = value;
  }

  bool is_cooperative() const noexcept { return get(CU_LAUNCH_ATTRIBUTE_COOPERATIVE).cooperative; }
  int priority() const noexcept { return get(CU_LAUNCH_ATTRIBUTE_PRIORITY).priority; }

 private:
  std::map<CUlaunchAttributeID, CUlaunchAttributeValue> set_;
};

}  // namespace halfwarp::emulator
