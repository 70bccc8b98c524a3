// SPDX-License-Identifier: Apache-2.0
// The attributes of a launch, of a kernel node or of a stream, as they were set or captured.
#pragma once

#include <cuda.h>

#include <map>
#include <string>

namespace halfwarp::emulator {

class launch_attributes {
 public:
  // Return whether cuda.h defines the attribute for kernel nodes, streams or launches.
  static bool applies_to_nodes(CUlaunchAttributeID id) noexcept;
  static bool applies_to_streams(CUlaunchAttributeID id) noexcept;
  static bool applies_to_launches(CUlaunchAttributeID id) noexcept;

  // Returns why a driver rejects a value; empty if it accepts the value.
  static std::string refusal(CUlaunchAttributeID id, const CUlaunchAttributeValue& value);

  // Returns the value of an attribute, or its default for launches if it was not set.
  CUlaunchAttributeValue get(CUlaunchAttributeID id) const noexcept;
  void set(CUlaunchAttributeID id, const CUlaunchAttributeValue& value);

  // Copies the attributes that are set in `other`.
  void merge(const launch_attributes& other);

  bool is_cooperative() const noexcept { return get(CU_LAUNCH_ATTRIBUTE_COOPERATIVE).cooperative; }
  int priority() const noexcept { return get(CU_LAUNCH_ATTRIBUTE_PRIORITY).priority; }

 private:
  std::map<CUlaunchAttributeID, CUlaunchAttributeValue> set_;
};

}  // namespace halfwarp::emulator
