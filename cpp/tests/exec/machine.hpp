// SPDX-License-Identifier: Apache-2.0
// A device with a loaded module, whose kernels are launched in one call.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/exec/schedule/run.hpp"
#include "emulator/memory/address_space.hpp"

namespace halfwarp::tests {

namespace exec = emulator::exec;
namespace memory = emulator::memory;
namespace ptx = emulator::ptx;
namespace report = emulator::report;

// Adds .version, .target and .address_size if the text lacks them.
std::string whole_module(std::string_view text);

class machine {
 public:
  explicit machine(int devices = 1, bool tracks_writes = false)
      : space{{.devices = devices, .device_capacity = 2ull << 30, .tracks_writes = tracks_writes}} {
  }

  // Throws std::runtime_error with the parser's message.
  exec::executable& load(std::string_view text, int device = 0);

  memory::address allocate(std::uint64_t bytes,
                           memory::allocation_kind kind = memory::allocation_kind::device,
                           int device = 0);
  template <class T>
  memory::address upload(const std::vector<T>& values) {
    memory::address base = allocate(values.size() * sizeof(T));
    std::memcpy(space.view(base), values.data(), values.size() * sizeof(T));
    return base;
  }
  template <class T>
  std::vector<T> download(memory::address from, std::size_t count) {
    std::vector<T> values(count);
    std::memcpy(values.data(), space.view(from), count * sizeof(T));
    return values;
  }
  template <class T>
  T* view(memory::address at) {
    return reinterpret_cast<T*>(space.view(at));
  }

  // Runs a kernel of the most recently loaded module.
  template <class... Values>
  exec::outcome run(std::string_view kernel, exec::extent grid, exec::extent block,
                    Values... values) {
    const exec::kernel& entry = find(kernel);
    std::vector<std::byte> parameters(entry.attributes().parameter_bytes);
    std::size_t n = 0;
    (put(parameters, entry, n++, values), ...);
    return launch(entry, grid, block, parameters);
  }

  // Runs it with the bytes of all parameters.
  exec::outcome run_with(std::string_view kernel, exec::extent grid, exec::extent block,
                         const std::vector<std::byte>& parameters) {
    return launch(find(kernel), grid, block, parameters);
  }

  memory::address_space space;
  exec::run_options options;
  std::uint32_t dynamic_shared_bytes = 0;
  bool is_cooperative = false;
  exec::extent cluster;
  std::string printed;

 private:
  const exec::kernel& find(std::string_view kernel) const;
  exec::outcome launch(const exec::kernel& entry, exec::extent grid, exec::extent block,
                       const std::vector<std::byte>& parameters);
  template <class T>
  static void put(std::vector<std::byte>& to, const exec::kernel& entry, std::size_t n, T value) {
    const exec::parameter_layout& layout = entry.attributes().parameters.at(n);
    if (layout.size != sizeof(T)) throw std::logic_error("size of a kernel parameter");
    std::memcpy(to.data() + layout.offset, &value, sizeof(T));
  }

  std::shared_ptr<exec::executable> loaded_;
};

}  // namespace halfwarp::tests
