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

  // Call before lanes execute an instruction. Its frame must be active.
  void record(const warp_access& access, std::size_t number);

  std::vector<report::fault> findings() const;

 private:
  // The bytes that the pointer of an access may address.
  struct object {
    std::uint64_t first = 0, end = 0;  // for shared memory: offsets from its start
    bool is_shared = false;
    std::string name;
  };
  struct thread {
    std::uint64_t block = 0;
    std::uint32_t number = 0;  // in the block
    bool operator==(const thread&) const = default;
  };
  enum class mistake : std::uint8_t { other_object, other_thread, returned_frame };
  using finding_key = std::pair<const instruction*, mistake>;

  void find_objects(const launch_sites& sites);
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

}  // namespace halfwarp::emulator::exec
