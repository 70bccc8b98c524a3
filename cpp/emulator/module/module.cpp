// SPDX-License-Identifier: Apache-2.0
// Loading code into contexts, finding kernels in it, unloading it.
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

std::shared_ptr<module> load_module(driver& d, const std::shared_ptr<context>& where,
                                    std::shared_ptr<const ptx::module> source) {
  exec::load_options options;
  options.device = where->on().ordinal();
  options.context = where->id();
  try {
    auto code = exec::executable::load(std::move(source), d.memory, options);
    return d.objects.make<module>(where, std::move(code));
  } catch (const exec::load_error& problem) {
    refuse(code_of(problem.reason), problem.message);
  }
}

std::shared_ptr<function> find_function(driver& d, module& in, std::string_view name,
                                        std::shared_ptr<kernel_settings> settings) {
  const auto known = in.functions.find(name);
  if (known != in.functions.end()) return known->second;
  const exec::kernel* code = in.code()->find_kernel(name);
  if (!code) refuse(CUDA_ERROR_NOT_FOUND, "the module has no kernel '" + std::string{name} + "'");
  if (!settings) settings = std::make_shared<kernel_settings>();
  auto made = d.objects.make<function>(in, *code, std::move(settings));
  in.functions.emplace(name, made);
  return made;
}

void unload_module(driver& d, module& gone) {
  for (const auto& [name, each] : gone.functions) d.objects.remove(*each);
  gone.functions.clear();
  d.objects.remove(gone);
}

std::shared_ptr<module> library::module_in(driver& d, const std::shared_ptr<context>& where) {
  auto& slot = modules_[where->id()];
  // A context that was reset has lost its modules, though somebody may still hold them.
  if (const auto loaded = slot.lock();
      loaded && d.objects.find<module>(loaded->handle_as<CUmodule>())) {
    return loaded;
  }
  const auto loaded = load_module(d, where, source_);
  loaded->is_library_owned = true;  // the library is what the program has to unload
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
  refuse(CUDA_ERROR_INVALID_CONTEXT, "there is no context in which the library could be loaded");
}

void library::unload(driver& d) {
  for (const auto& [id, each] : modules_) {
    if (const auto loaded = each.lock()) unload_module(d, *loaded);
  }
  for (const auto& [name, each] : kernels) d.objects.remove(*each);
  modules_.clear();
  kernels.clear();
}

}  // namespace halfwarp::emulator
