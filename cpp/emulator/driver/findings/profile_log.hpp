// SPDX-License-Identifier: Apache-2.0
// The profiles of the launches since a session was opened, merged by kernel.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "emulator/exec/profile/profile.hpp"

namespace halfwarp::emulator {

// Launches of kernels of equal name and PTX text are merged, since programs load modules again.
struct kernel_profile {
  std::uint64_t launches = 0;
  exec::launch_profile total;  // grid and block of the first launch
};

// Thread-safe. Exists before the driver, because sessions may be opened before its first call.
class profile_log {
 public:
  // `is_merged`: launches of a kernel are added to one profile.
  std::uint64_t open(exec::profile_detail detail, bool is_merged);
  void close(std::uint64_t session);
  // Returns the detail that the open sessions need.
  exec::profile_detail detail() const noexcept { return detail_.load(std::memory_order_relaxed); }
  void add(const exec::launch_profile& profile);
  // Returns JSON, or "null" if the session is closed.
  std::string text(std::uint64_t session) const;
  // Appends the text as one line to a file. Returns false if it cannot be written.
  bool append(std::uint64_t session, const std::string& path) const;

 private:
  struct session {
    exec::profile_detail detail = exec::profile_detail::none;
    bool is_merged = true;
    std::vector<kernel_profile> kernels;  // in the order of their first launches
  };

  void update_detail();

  std::atomic<exec::profile_detail> detail_{exec::profile_detail::none};
  mutable std::mutex mutex_;
  std::map<std::uint64_t, session> sessions_;
  std::uint64_t last_ = 0;
};

profile_log& the_profile_log();

}  // namespace halfwarp::emulator
