// SPDX-License-Identifier: Apache-2.0
// Libraries, which are loaded into a context at their first use there.
#include "emulator/api/module/module_call.hpp"
#include "emulator/ptx/ast.hpp"

namespace halfwarp::emulator::api {
namespace {

void add_library(call& c, CUlibrary* out, std::shared_ptr<const ptx::module> source) {
  const auto created = c.d.objects.make<library>(std::move(source));
  const auto raw = created->handle_as<CUlibrary>();
  for (const auto& each : created->source().functions) {
    if (!each.is_entry || !each.is_definition) continue;
    std::string name{each.name};
    created->kernels.emplace(name, c.d.objects.make<library_kernel>(raw, name));
  }
  *out = raw;
}

// Adds a library. If a context is current, loads it there to report errors early.
CUlibrary add_checked(std::shared_ptr<const ptx::module> source, jit_options& options) {
  call c;
  CUlibrary raw = nullptr;
  add_library(c, &raw, std::move(source));
  const auto& stack = this_thread().contexts;
  if (stack.empty() || !stack.back()->is_alive) return raw;
  const auto created = c.find<library>(raw);
  try {
    created->module_in(c.d, stack.back());
  } catch (const refusal& r) {
    options.write_error_log(r.text);
    created->unload(c.d);
    c.d.objects.remove(*created);
    throw;
  }
  return raw;
}

// Loads a library; `open` reads an image in memory or a file.
template <auto open, class Code>
CUresult load(CUlibrary* out, Code code, jit_options options,
              const CUlibraryOption* library_options, unsigned library_option_count) noexcept {
  return run_unlocked([&] {
    require_outputs(out);
    require(library_option_count == 0 || library_options, CUDA_ERROR_INVALID_VALUE,
            "the list of library options is null");
    *out = add_checked(open(code, options), options);
  });
}

}  // namespace

CUresult cuLibraryLoadData(CUlibrary* library, const void* code, CUjit_option* jitOptions,
                           void** jitOptionsValues, unsigned int numJitOptions,
                           CUlibraryOption* libraryOptions, void**,
                           unsigned int numLibraryOptions) noexcept {
  return load<open_image>(library, code, {numJitOptions, jitOptions, jitOptionsValues},
                          libraryOptions, numLibraryOptions);
}

CUresult cuLibraryLoadFromFile(CUlibrary* library, const char* fileName, CUjit_option* jitOptions,
                               void** jitOptionsValues, unsigned int numJitOptions,
                               CUlibraryOption* libraryOptions, void**,
                               unsigned int numLibraryOptions) noexcept {
  return load<open_image_file>(library, fileName, {numJitOptions, jitOptions, jitOptionsValues},
                               libraryOptions, numLibraryOptions);
}

CUresult cuLibraryUnload(CUlibrary library) noexcept {
  return run_locked([&](call& c) {
    const auto target = c.find<emulator::library>(library);
    c.d.objects.remove(*target);
    for (const auto& device : c.d.devices) {
      if (device->primary) c.d.streams.wait_for_all(c.guard, *device->primary);
    }
    target->unload(c.d);
  });
}

CUresult cuLibraryGetKernel(CUkernel* pKernel, CUlibrary library, const char* name) noexcept {
  return run_locked([&](call& c) {
    require_outputs(pKernel, name);
    const auto source = c.find<emulator::library>(library);
    const auto match = source->kernels.find(std::string_view{name});
    if (match == source->kernels.end()) {
      refuse(CUDA_ERROR_NOT_FOUND, "the library has no kernel '" + std::string{name} + "'");
    }
    *pKernel = match->second->handle_as<CUkernel>();
  });
}

CUresult cuLibraryGetKernelCount(unsigned int* count, CUlibrary lib) noexcept {
  return run_locked([&](call& c) {
    require_outputs(count);
    *count = static_cast<unsigned>(c.find<library>(lib)->kernels.size());
  });
}

CUresult cuLibraryEnumerateKernels(CUkernel* kernels, unsigned int numKernels,
                                   CUlibrary lib) noexcept {
  return run_locked([&](call& c) {
    require_outputs(kernels);
    unsigned index = 0;
    for (const auto& [name, each] : c.find<library>(lib)->kernels) {
      if (index == numKernels) return;
      kernels[index++] = each->handle_as<CUkernel>();
    }
  });
}

CUresult cuLibraryGetModule(CUmodule* pMod, CUlibrary library) noexcept {
  return run_locked([&](call& c) {
    require_outputs(pMod);
    *pMod = c.find<emulator::library>(library)->module_in(c.d, c.current())->handle_as<CUmodule>();
  });
}

CUresult cuLibraryGetManaged(CUdeviceptr* dptr, size_t* bytes, CUlibrary library,
                             const char* name) noexcept {
  return run_locked([&](call& c) {
    const auto source = c.find<emulator::library>(library);
    require(name != nullptr, CUDA_ERROR_INVALID_VALUE, "the name is null");
    const auto variable = source->module_in(c.d, c.current())->code()->find_variable(name);
    const auto memory = variable ? c.d.memory.find_live(variable->base) : std::nullopt;
    if (!memory || memory->kind != memory::allocation_kind::managed) {
      refuse(CUDA_ERROR_NOT_FOUND,
             "the library has no managed variable '" + std::string{name} + "'");
    }
    if (dptr) *dptr = variable->base;
    if (bytes) *bytes = variable->size;
  });
}

CUresult cuKernelGetLibrary(CUlibrary* pLib, CUkernel kernel) noexcept {
  return run_locked([&](call& c) {
    require_outputs(pLib);
    *pLib = c.find<library_kernel>(kernel)->library_handle();
  });
}

CUresult cuKernelGetName(const char** name, CUkernel hfunc) noexcept {
  return run_locked([&](call& c) {
    require_outputs(name);
    *name = c.find<library_kernel>(hfunc)->name().c_str();
  });
}

CUresult cuKernelGetFunction(CUfunction* pFunc, CUkernel kernel) noexcept {
  return run_locked([&](call& c) {
    require_outputs(pFunc);
    c.find<library_kernel>(kernel);
    const auto raw = reinterpret_cast<CUfunction>(kernel);
    *pFunc = function_of(c, raw, c.current())->handle_as<CUfunction>();
  });
}

}  // namespace halfwarp::emulator::api
