// SPDX-License-Identifier: Apache-2.0
// Libraries, modules and kernels of the null driver, with their parameter layouts.
#include <algorithm>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "emulator/image/file.hpp"
#include "emulator/image/image.hpp"
#include "emulator/null/image.hpp"
#include "emulator/null/outputs.hpp"
#include "emulator/null_driver.hpp"

namespace halfwarp::emulator::null_driver {

namespace {

// A loaded module or library. Handles are the addresses of this object and of its kernels.
struct code {
  std::vector<kernel_layout> kernels;
};

// All loaded modules and libraries. Looks handles up without a dereference, since tests pass
// invalid ones.
class registry {
 public:
  const code* add(std::vector<kernel_layout> kernels) {
    const std::lock_guard owner{lock_};
    const code& entry = *loaded_.emplace_back(std::make_unique<code>(code{std::move(kernels)}));
    for (const auto& k : entry.kernels) owners_[&k] = &entry;
    return &entry;
  }

  void remove(const void* handle) {
    const std::lock_guard owner{lock_};
    const auto entry = position(handle);
    if (entry == loaded_.end()) return;
    for (const auto& k : (*entry)->kernels) owners_.erase(&k);
    loaded_.erase(entry);
  }

  const code* find_code(const void* handle) {
    const std::lock_guard owner{lock_};
    const auto match = position(handle);
    return match == loaded_.end() ? nullptr : match->get();
  }

  // Returns the module or library of a kernel, or null for an unknown handle.
  const code* code_of(const void* handle) {
    const std::lock_guard owner{lock_};
    const auto match = owners_.find(handle);
    return match == owners_.end() ? nullptr : match->second;
  }

 private:
  std::vector<std::unique_ptr<code>>::iterator position(const void* handle) {
    return std::find_if(loaded_.begin(), loaded_.end(),
                        [&](const auto& each) { return each.get() == handle; });
  }

  std::mutex lock_;
  std::vector<std::unique_ptr<code>> loaded_;
  std::unordered_map<const void*, const code*> owners_;  // by kernel
};

registry& the_registry() {
  static registry& instance = *new registry;  // never destroyed: programs unload during exit
  return instance;
}

template <class Handle>
const kernel_layout* layout_of(Handle kernel) noexcept {
  return the_registry().code_of(kernel) ? reinterpret_cast<const kernel_layout*>(kernel) : nullptr;
}

template <class Handle>
CUresult load_bytes(Handle* out, image::bytes image) noexcept {
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  store(out, the_registry().add(read_kernels(image)));
  return CUDA_SUCCESS;
}

template <class Handle>
CUresult load(Handle* out, const void* image) noexcept {
  return image ? load_bytes(out, image::view_of(image)) : CUDA_ERROR_INVALID_VALUE;
}

template <class Handle>
CUresult load_file(Handle* out, const char* path) noexcept {
  const auto image = emulator::image::read_file(path ? path : "");
  return image ? load_bytes(out, std::as_bytes(std::span{*image})) : CUDA_ERROR_FILE_NOT_FOUND;
}

template <class Owner>
CUresult unload(Owner owner) noexcept {
  the_registry().remove(owner);
  return CUDA_SUCCESS;
}

template <class Handle, class Owner>
CUresult find(Handle* out, Owner owner, const char* name) noexcept {
  const code* const match = the_registry().find_code(owner);
  if (!match) return CUDA_ERROR_INVALID_HANDLE;
  if (!out || !name) return CUDA_ERROR_INVALID_VALUE;
  for (const auto& k : match->kernels) {
    if (k.name != name) continue;
    store(out, &k);
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_NOT_FOUND;
}

template <class Handle, class Owner>
CUresult list(Handle* out, unsigned capacity, Owner owner) noexcept {
  const code* const match = the_registry().find_code(owner);
  if (!match) return CUDA_ERROR_INVALID_HANDLE;
  for (unsigned i = 0; i < capacity && i < match->kernels.size(); ++i) {
    store(&out[i], &match->kernels[i]);
  }
  return CUDA_SUCCESS;
}

template <class Owner>
CUresult count(unsigned* out, Owner owner) noexcept {
  const code* const match = the_registry().find_code(owner);
  if (!match) return CUDA_ERROR_INVALID_HANDLE;
  store(out, match->kernels.size());
  return CUDA_SUCCESS;
}

template <class Owner, class Handle>
CUresult code_of(Owner* out, Handle kernel) noexcept {
  const code* const match = the_registry().code_of(kernel);
  if (!match) return CUDA_ERROR_INVALID_HANDLE;
  store(out, match);
  return CUDA_SUCCESS;
}

template <class Handle>
CUresult name_of(const char** out, Handle kernel) noexcept {
  const kernel_layout* const match = layout_of(kernel);
  if (!match) return CUDA_ERROR_INVALID_HANDLE;
  store(out, match->name.c_str());
  return CUDA_SUCCESS;
}

template <class Handle>
CUresult parameter_info(Handle kernel, size_t index, size_t* offset, size_t* size) noexcept {
  const kernel_layout* const match = layout_of(kernel);
  if (!match) return CUDA_ERROR_INVALID_HANDLE;
  if (index >= match->parameters.size()) return CUDA_ERROR_INVALID_VALUE;
  store(offset, match->parameters[index].offset);
  store(size, match->parameters[index].size);
  return CUDA_SUCCESS;
}

template <class Handle>
CUresult parameter_count(Handle kernel, size_t* out) noexcept {
  const kernel_layout* const match = layout_of(kernel);
  if (!match) return CUDA_ERROR_INVALID_HANDLE;
  store(out, match->parameters.size());
  return CUDA_SUCCESS;
}

CUresult attribute(int* out, CUfunction_attribute id) noexcept {
  switch (id) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      store(out, 1024);
      break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      store(out, 16);
      break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      store(out, 90);
      break;
    default:
      zero(out);
  }
  return CUDA_SUCCESS;
}

}  // namespace

CUresult cuLibraryLoadData(CUlibrary* library, const void* code, CUjit_option*, void**,
                           unsigned int, CUlibraryOption*, void**, unsigned int) noexcept {
  return load(library, code);
}

CUresult cuLibraryLoadFromFile(CUlibrary* library, const char* fileName, CUjit_option*, void**,
                               unsigned int, CUlibraryOption*, void**, unsigned int) noexcept {
  return load_file(library, fileName);
}

CUresult cuLibraryUnload(CUlibrary library) noexcept { return unload(library); }

CUresult cuLibraryGetKernel(CUkernel* pKernel, CUlibrary library, const char* name) noexcept {
  return find(pKernel, library, name);
}

CUresult cuLibraryGetKernelCount(unsigned int* out, CUlibrary lib) noexcept {
  return count(out, lib);
}

CUresult cuLibraryEnumerateKernels(CUkernel* kernels, unsigned int numKernels,
                                   CUlibrary lib) noexcept {
  return list(kernels, numKernels, lib);
}

CUresult cuLibraryGetModule(CUmodule* pMod, CUlibrary library) noexcept {
  store(pMod, library);
  return CUDA_SUCCESS;
}

CUresult cuKernelGetFunction(CUfunction* pFunc, CUkernel kernel) noexcept {
  store(pFunc, kernel);
  return CUDA_SUCCESS;
}

CUresult cuKernelGetLibrary(CUlibrary* pLib, CUkernel kernel) noexcept {
  return code_of(pLib, kernel);
}

CUresult cuKernelGetName(const char** name, CUkernel hfunc) noexcept {
  return name_of(name, hfunc);
}

CUresult cuKernelGetAttribute(int* pi, CUfunction_attribute attrib, CUkernel, CUdevice) noexcept {
  return attribute(pi, attrib);
}

CUresult cuKernelGetParamInfo(CUkernel kernel, size_t paramIndex, size_t* paramOffset,
                              size_t* paramSize) noexcept {
  return parameter_info(kernel, paramIndex, paramOffset, paramSize);
}

CUresult cuKernelGetParamCount(CUkernel kernel, size_t* paramCount) noexcept {
  return parameter_count(kernel, paramCount);
}

CUresult cuModuleLoad(CUmodule* module, const char* fname) noexcept {
  return load_file(module, fname);
}

CUresult cuModuleLoadData(CUmodule* module, const void* image) noexcept {
  return load(module, image);
}

CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned int, CUjit_option*,
                            void**) noexcept {
  return load(module, image);
}

CUresult cuModuleUnload(CUmodule hmod) noexcept { return unload(hmod); }

CUresult cuModuleGetFunction(CUfunction* hfunc, CUmodule hmod, const char* name) noexcept {
  return find(hfunc, hmod, name);
}

CUresult cuModuleGetFunctionCount(unsigned int* out, CUmodule mod) noexcept {
  return count(out, mod);
}

CUresult cuModuleEnumerateFunctions(CUfunction* functions, unsigned int numFunctions,
                                    CUmodule mod) noexcept {
  return list(functions, numFunctions, mod);
}

CUresult cuFuncGetName(const char** name, CUfunction hfunc) noexcept {
  return name_of(name, hfunc);
}

CUresult cuFuncGetModule(CUmodule* hmod, CUfunction hfunc) noexcept { return code_of(hmod, hfunc); }

CUresult cuFuncGetAttribute(int* pi, CUfunction_attribute attrib, CUfunction) noexcept {
  return attribute(pi, attrib);
}

CUresult cuFuncGetParamInfo(CUfunction func, size_t paramIndex, size_t* paramOffset,
                            size_t* paramSize) noexcept {
  return parameter_info(func, paramIndex, paramOffset, paramSize);
}

CUresult cuFuncGetParamCount(CUfunction func, size_t* paramCount) noexcept {
  return parameter_count(func, paramCount);
}

}  // namespace halfwarp::emulator::null_driver
