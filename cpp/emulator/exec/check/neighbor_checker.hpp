// SPDX-License-Identifier: Apache-2.0
// Finds accesses that leave the object of their pointer and land in another one, in one launch.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "emulator/exec/check/warp_access.hpp"
#include "emulator/report/fault.hpp"

namespace halfwarp::emulator::exec {

struct launch_state;

// Used by one host thread.
class neighbor_checker {
 public:
  neighbor_checker(const launch_state& launch, const launch_sites& sites);
  neighbor_checker(const neighbor_checker&) = delete;  // the launch owns one

  // Returns whether the accesses of an instruction need `record`.
  bool is_recorded(const race_site& site, std::size_t number) const;
  // Call before lanes execute an instruction. Its frame must be active.
  void record(const warp_access& access);
  // This function does so for an access with a pattern inside the object of its pointer. It returns
  // false for another access.
  bool pass(const warp_access& access) const;

  std::vector<report::fault> findings() const;

 private:
  // The bytes that the pointer of an access may address.
  struct object {
    std::uint64_t first = 0, end = 0;  // for shared memory: offsets from its start
    bool is_shared = false;
    std::string name;
    bool contains(std::uint64_t at, std::uint64_t bytes) const {
      return at >= first && at < end && end - at >= bytes;
    }
  };
  struct thread {
    std::uint64_t block = 0;
    std::uint32_t number = 0;  // in the block
    bool operator==(const thread&) const = default;
  };
  enum class mistake : std::uint8_t { other_object, other_thread, returned_frame };
  using finding_key = std::pair<const instruction*, mistake>;

  void find_objects(const launch_sites& sites);
  static bool fits(const warp_access& access, const object& expected);
  void compare(const warp_access& access, const object& expected);
  void follow_local_addresses(const warp_access& access);
  void check_frame(const warp_access& access);
  void add_finding(const warp_access& access, int lane, const shared_word& word, mistake kind,
                   std::string detail);

  const launch_state& launch_;
  std::vector<object> objects_;
  std::vector<std::uint32_t> object_of_;               // by site: index + 1
  std::unordered_map<std::uint64_t, thread> escaped_;  // by host address of a stored local address
  std::map<finding_key, report::fault> findings_;
};

inline bool neighbor_checker::fits(const warp_access& access, const object& expected) {
  if (!access.is_regular || access.is_shared != expected.is_shared) return false;
  for (const warp_access::half& part : access.halves) {
    const std::uint32_t bytes = access.bytes_of(part);
    if (bytes && !expected.contains(part.address, bytes)) return false;
  }
  return true;
}

inline bool neighbor_checker::pass(const warp_access& access) const {
  const std::uint32_t index = object_of_[access.number];
  return access.site.shape.bytes != 8 && (!index || fits(access, objects_[index - 1]));
}

}  // namespace halfwarp::emulator::exec
