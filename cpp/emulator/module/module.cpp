// SPDX-License-Identifier: Apache-2.0
// Loads modules into contexts, finds their kernels and unloads them.
#include "emulator/module/module.hpp"

#include "emulator/driver/driver.hpp"
#include "emulator/ptx/ast.hpp"
#include "emulator/settings/refusal.hpp"

namespace halfwarp::emulator {
namespace {

CUresult code_of(exec::load_failure reason) {
  switch (reason) {
    case exec::load_failure::out_of_memory:
      return CUDA_ERROR_OUT_OF_MEMORY;
    case exec::load_failure::unresolved_symbol:
    case exec::load_failure::invalid:
      break;
  }
  return CUDA_ERROR_INVALID_PTX;
}

}  // namespace

const std::shared_ptr<kernel_settings>& library_kernel::settings_on(int device) {
  auto& slot = settings_[device];
  if (!slot) slot = std::make_shared<kernel_settings>();
  return slot;
}

std::shared_ptr<module> load_module(driver& d, const std::shared_ptr<context>& target,
                                    std::shared_ptr<const ptx::module> source,
                                    exec::load_options options) {
  options.device = target->device().ordinal();
  options.context = target->id();
  try {
    auto code = exec::executable::load(std::move(source), d.memory, options);
    return d.objects.make<module>(target, std::move(code));
  } catch (const exec::load_error& problem) {
    refuse(code_of(problem.reason), problem.message);
  }
}

std::shared_ptr<function> find_function(driver& d, module& owner, std::string_view name,
                                        std::shared_ptr<kernel_settings> settings) {
  const auto match = owner.functions.find(name);
  if (match != owner.functions.end()) return match->second;
  const exec::kernel* code = owner.code()->find_kernel(name);
  if (!code) refuse(CUDA_ERROR_NOT_FOUND, "the module has no kernel '" + std::string{name} + "'");
  if (!settings) settings = std::make_shared<kernel_settings>();
  auto result = d.objects.make<function>(owner, *code, std::move(settings));
  owner.functions.emplace(name, result);
  return result;
}

void unload_module(driver& d, module& target) {
  for (const auto& [name, each] : target.functions) d.objects.remove(*each);
  target.functions.clear();
  d.objects.remove(target);
}

// A reset of a context destroys its modules, but a caller may still hold one.
bool library::is_loaded_anywhere(const driver& d) const {
  for (const auto& [id, each] : modules_) {
    const auto loaded = each.lock();
    if (loaded && d.objects.find<module>(loaded->handle_as<CUmodule>())) return true;
  }
  return false;
}

std::shared_ptr<module> library::module_in(driver& d, const std::shared_ptr<context>& target) {
  auto& slot = modules_[target->id()];
  if (const auto loaded = slot.lock();
      loaded && d.objects.find<module>(loaded->handle_as<CUmodule>())) {
    return loaded;
  }
  if (!managed_) managed_ = std::make_shared<exec::managed_variables>(d.memory);
  exec::load_options options;
  options.managed = managed_;
  options.restores_managed = !is_loaded_anywhere(d);
  const auto loaded = load_module(d, target, source_, std::move(options));
  loaded->is_library_owned = true;  // the program unloads the library, not the module
  slot = loaded;
  return loaded;
}

std::shared_ptr<module> library::module_anywhere(driver& d,
                                                 const std::shared_ptr<context>& preferred) {
  for (const auto& [id, each] : modules_) {
    if (const auto loaded = each.lock()) return loaded;
  }
  if (preferred && preferred->is_alive) return module_in(d, preferred);
  for (const auto& device : d.devices) {
    if (device->primary && device->primary->is_alive) return module_in(d, device->primary);
  }
  refuse(CUDA_ERROR_INVALID_CONTEXT, "there is no context into which the library can be loaded");
}

void library::unload(driver& d) {
  for (const auto& [id, each] : modules_) {
    if (const auto loaded = each.lock()) unload_module(d, *loaded);
  }
  for (const auto& [name, each] : kernels) d.objects.remove(*each);
  modules_.clear();
  kernels.clear();
  managed_.reset();
}

}  // namespace halfwarp::emulator
