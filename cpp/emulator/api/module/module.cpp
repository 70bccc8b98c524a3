// SPDX-License-Identifier: Apache-2.0
// Modules, which are loaded into the current context.
#include "emulator/api/module/module_call.hpp"
#include "emulator/exec/executable.hpp"

namespace halfwarp::emulator::api {
namespace {

void load(CUmodule* out, const std::shared_ptr<const ptx::module>& source, jit_options& options) {
  call c;
  try {
    *out = load_module(c.d, c.current(), source)->handle_as<CUmodule>();
  } catch (const refusal& r) {
    options.write_error_log(r.text);
    throw;
  }
}

CUresult load_image(CUmodule* out, const void* image, unsigned count, CUjit_option* names,
                    void** values) {
  return run_unlocked([&] {
    require_outputs(out);
    jit_options options{count, names, values};
    load(out, open_image(image, options), options);
  });
}

void find_variable(const module& source, const char* name, CUdeviceptr* address,
                   std::size_t* bytes) {
  require(name != nullptr, CUDA_ERROR_INVALID_VALUE, "the name is null");
  const auto match = source.code()->find_variable(name);
  if (!match)
    refuse(CUDA_ERROR_NOT_FOUND, "the module has no variable '" + std::string{name} + "'");
  if (address) *address = match->base;
  if (bytes) *bytes = match->size;
}

}  // namespace

CUresult cuModuleLoadData(CUmodule* module, const void* image) noexcept {
  return load_image(module, image, 0, nullptr, nullptr);
}

CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned int numOptions,
                            CUjit_option* options, void** optionValues) noexcept {
  return load_image(module, image, numOptions, options, optionValues);
}

CUresult cuModuleLoadFatBinary(CUmodule* module, const void* fatCubin) noexcept {
  return load_image(module, fatCubin, 0, nullptr, nullptr);
}

CUresult cuModuleLoad(CUmodule* module, const char* fname) noexcept {
  return run_unlocked([&] {
    require_outputs(module);
    jit_options options{0, nullptr, nullptr};
    load(module, open_image_file(fname, options), options);
  });
}

CUresult cuModuleUnload(CUmodule hmod) noexcept {
  return run_locked([&](call& c) {
    const auto target = c.find<module>(hmod);
    require(!target->is_library_owned, CUDA_ERROR_NOT_PERMITTED,
            "the module belongs to a library, which is unloaded with cuLibraryUnload");
    c.d.streams.wait_for_all(c.guard, target->owner());
    unload_module(c.d, *target);
  });
}

CUresult cuModuleGetFunction(CUfunction* hfunc, CUmodule hmod, const char* name) noexcept {
  return run_locked([&](call& c) {
    require_outputs(hfunc, name);
    *hfunc = find_function(c.d, *c.find<module>(hmod), name)->handle_as<CUfunction>();
  });
}

CUresult cuModuleGetFunctionCount(unsigned int* count, CUmodule mod) noexcept {
  return run_locked([&](call& c) {
    require_outputs(count);
    *count = static_cast<unsigned>(c.find<module>(mod)->code()->kernels().size());
  });
}

CUresult cuModuleEnumerateFunctions(CUfunction* functions, unsigned int numFunctions,
                                    CUmodule mod) noexcept {
  return run_locked([&](call& c) {
    require_outputs(functions);
    const auto source = c.find<module>(mod);
    unsigned index = 0;
    for (const auto& kernel : source->code()->kernels()) {
      if (index == numFunctions) return;
      functions[index++] = find_function(c.d, *source, kernel->name())->handle_as<CUfunction>();
    }
  });
}

CUresult cuModuleGetGlobal(CUdeviceptr* dptr, size_t* bytes, CUmodule hmod,
                           const char* name) noexcept {
  return run_locked([&](call& c) { find_variable(*c.find<module>(hmod), name, dptr, bytes); });
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) noexcept {
  return run_unlocked([&] {
    require_outputs(mode);
    *mode = CU_MODULE_EAGER_LOADING;
  });
}

CUresult cuLibraryGetGlobal(CUdeviceptr* dptr, size_t* bytes, CUlibrary library,
                            const char* name) noexcept {
  return run_locked([&](call& c) {
    const auto source = c.find<emulator::library>(library);
    find_variable(*source->module_in(c.d, c.current()), name, dptr, bytes);
  });
}

}  // namespace halfwarp::emulator::api
