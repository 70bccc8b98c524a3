// SPDX-License-Identifier: Apache-2.0
// Modules, libraries, and the kernels in them.
#pragma once

#include <cuda.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/exec/executable.hpp"
#include "emulator/object/object.hpp"
#include "emulator/stream/context.hpp"

namespace halfwarp::emulator {

struct driver;
class function;
class library;

// The settings of a kernel on one device that a program may change.
struct kernel_settings {
  int maximum_dynamic_shared = -1;  // bytes; -1: the maximum without opt-in
  int carveout = -1;                // percent of shared memory; -1: no preference
  int cluster[3] = {0, 0, 0};       // blocks; 0: set by the launch
  bool allows_large_clusters = false;
  int cluster_policy = CU_CLUSTER_SCHEDULING_POLICY_DEFAULT;
  CUfunc_cache cache = CU_FUNC_CACHE_PREFER_NONE;
};

// A module in one context. This class and the classes below are guarded by the driver's lock.
class module : public object {
 public:
  static constexpr object_kind kind_of = object_kind::module;

  module(std::shared_ptr<context> owner,
         std::shared_ptr<exec::executable> code) :object{kind_of, owner->id()},
      owner_{std::move(owner)}, code_{std::move(code)} {}

  context& owner() const noexcept { return *owner_; }
  const std::shared_ptr<exec::executable>& code() const noexcept { return code_; }

  std::map<std::string, std::shared_ptr<function>, std::less<>> functions;  // created on demand

 private:
  std::shared_ptr<context> owner_;
  std::shared_ptr<exec::executable> code_;
};

// A kernel in one context, which can be launched.
class function : public object {
 public:
  static constexpr object_kind kind_of = object_kind::function;

  function(module& owner, const exec::kernel& code, std::shared_ptr<kernel_settings> settings)
      : object{kind_of, owner.context_id()},
        module_{static_cast<CUmodule>(owner.handle_as<CUmodule>())},
        device_{owner.owner().device()},
        executable_{owner.code()},
        code_{code},
        settings_{std::move(settings)} {}

  CUmodule module_handle() const noexcept { return module_; }
  emulator::device& device() const noexcept { return device_; }
  const std::shared_ptr<exec::executable>& executable() const noexcept { return executable_; }
  const exec::kernel& code() const noexcept { return code_; }
  kernel_settings& settings() const noexcept { return *settings_; }

 private:
  CUmodule module_;
  emulator::device& device_;
  std::shared_ptr<exec::executable> executable_;
  const exec::kernel& code_;
  std::shared_ptr<kernel_settings> settings_;
};

// A kernel of a library, independent of contexts.
class library_kernel : public object {
 public:
  static constexpr object_kind kind_of = object_kind::kernel;

  library_kernel(CUlibrary owner, std::string name)
      : object{kind_of}, library_{owner}, name_{std::move(name)} {}

  CUlibrary library_handle() const noexcept { return library_; }
  const std::string& name() const noexcept { return name_; }
  // Returns the settings for one device, which its functions share.
  const std::shared_ptr<kernel_settings>& settings_on(int device);

 private:
  CUlibrary library_;
  std::string name_;
  std::map<int, std::shared_ptr<kernel_settings>> settings_;
};

// Code that is loaded into a context at its first use there.
class library : public object {
 public:
  static constexpr object_kind kind_of = object_kind::library;

  explicit library(std::shared_ptr<const ptx::module> source)
      : object{kind_of}, source_{std::move(source)} {}

  const ptx::module& source() const noexcept { return *source_; }
  // Returns the module in a context; loads it if necessary. Refuses if the load fails.
  std::shared_ptr<module> module_in(driver& d, const std::shared_ptr<context>& target);
  // Returns a module in any context, for attributes, which do not depend on it. Loads it if
  // necessary.
  std::shared_ptr<module> module_anywhere(driver& d, const std::shared_ptr<context>& preferred);
  void unload(driver& d);

  std::map<std::string, std::shared_ptr<library_kernel>, std::less<>> kernels;  // by name

 private:
  bool is_loaded_anywhere(const driver& d) const;

  std::shared_ptr<const ptx::module> source_;
  std::shared_ptr<exec::managed_variables> managed_;
  std::map<std::uint64_t, std::weak_ptr<module>> modules_;  // by id of the context
};

// Loads code into a context; refuses with the reason of a failure. `options` may name the managed
// variables of a library.
std::shared_ptr<module> load_module(driver& d, const std::shared_ptr<context>& target,
                                    std::shared_ptr<const ptx::module> source,
                                    exec::load_options options = {});

// Finds a function of a module by name; refuses with CUDA_ERROR_NOT_FOUND.
std::shared_ptr<function> find_function(driver& d, module& owner, std::string_view name,
                                        std::shared_ptr<kernel_settings> settings = nullptr);

void unload_module(driver& d, module& target);

}  // namespace halfwarp::emulator
