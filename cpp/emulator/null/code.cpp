// SPDX-License-Identifier: Apache-2.0
// Libraries, modules and kernels of the null driver: handles that know their parameter layouts.
#include <algorithm>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "emulator/image/file.hpp"
#include "emulator/null/answer.hpp"
#include "emulator/null/image.hpp"
#include "emulator/null_driver.hpp"

namespace halfwarp::emulator::null_driver {

namespace {

// Loaded code, alive until it is unloaded. The handles of it and of its kernels are the addresses.
struct code {
  std::vector<kernel_layout> kernels;
};

// All loaded code. Handles are looked up, not followed: callers make them up when they test.
class registry {
 public:
  const code* add(std::vector<kernel_layout> kernels) {
    const std::lock_guard owner{lock_};
    const code& made = *loaded_.emplace_back(std::make_unique<code>(code{std::move(kernels)}));
    for (const auto& k : made.kernels) owners_[&k] = &made;
    return &made;
  }

  void remove(const void* handle) {
    const std::lock_guard owner{lock_};
    const auto gone = position(handle);
    if (gone == loaded_.end()) return;
    for (const auto& k : (*gone)->kernels) owners_.erase(&k);
    loaded_.erase(gone);
  }

  const code* find_code(const void* handle) {
    const std::lock_guard owner{lock_};
    const auto found = position(handle);
    return found == loaded_.end() ? nullptr : found->get();
  }

  // The code that a kernel belongs to; null when no kernel has that handle.
  const code* owner_of(const void* handle) {
    const std::lock_guard owner{lock_};
    const auto found = owners_.find(handle);
    return found == owners_.end() ? nullptr : found->second;
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

registry& all() {
  static registry& only = *new registry;  // lives to the end: unloading happens during exit, too
  return only;
}

template <class Handle>
const kernel_layout* layout_of(Handle kernel) noexcept {
  return all().owner_of(kernel) ? reinterpret_cast<const kernel_layout*>(kernel) : nullptr;
}

template <class Handle>
CUresult load(Handle* out, const void* image) noexcept {
  if (!out || !image) return CUDA_ERROR_INVALID_VALUE;
  give(out, all().add(read_kernels(image)));
  return CUDA_SUCCESS;
}

template <class Handle>
CUresult load_file(Handle* out, const char* path) noexcept {
  const auto image = emulator::image::read_file(path ? path : "");
  return image ? load(out, image->c_str()) : CUDA_ERROR_FILE_NOT_FOUND;
}

template <class Owner>
CUresult unload(Owner owner) noexcept {
  all().remove(owner);
  return CUDA_SUCCESS;
}

template <class Handle, class Owner>
CUresult find(Handle* out, Owner owner, const char* name) noexcept {
  const code* const found = all().find_code(owner);
  if (!found) return CUDA_ERROR_INVALID_HANDLE;
  if (!out || !name) return CUDA_ERROR_INVALID_VALUE;
  for (const auto& k : found->kernels) {
    if (k.name != name) continue;
    give(out, &k);
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_NOT_FOUND;
}

template <class Handle, class Owner>
CUresult list(Handle* out, unsigned capacity, Owner owner) noexcept {
  const code* const found = all().find_code(owner);
  if (!found) return CUDA_ERROR_INVALID_HANDLE;
  for (unsigned i = 0; i < capacity && i < found->kernels.size(); ++i) {
    give(&out[i], &found->kernels[i]);
  }
  return CUDA_SUCCESS;
}

template <class Owner>
CUresult count(unsigned* out, Owner owner) noexcept {
  const code* const found = all().find_code(owner);
  if (!found) return CUDA_ERROR_INVALID_HANDLE;
  give(out, found->kernels.size());
  return CUDA_SUCCESS;
}

template <class Owner, class Handle>
CUresult owner_of(Owner* out, Handle kernel) noexcept {
  const code* const found = all().owner_of(kernel);
  if (!found) return CUDA_ERROR_INVALID_HANDLE;
  give(out, found);
  return CUDA_SUCCESS;
}

template <class Handle>
CUresult name_of(const char** out, Handle kernel) noexcept {
  const kernel_layout* const found = layout_of(kernel);
  if (!found) return CUDA_ERROR_INVALID_HANDLE;
  give(out, found->name.c_str());
  return CUDA_SUCCESS;
}

template <class Handle>
CUresult parameter_info(Handle kernel, size_t index, size_t* offset, size_t* size) noexcept {
  const kernel_layout* const found = layout_of(kernel);
  if (!found) return CUDA_ERROR_INVALID_HANDLE;
  if (index >= found->parameters.size()) return CUDA_ERROR_INVALID_VALUE;
  give(offset, found->parameters[index].offset);
  give(size, found->parameters[index].size);
  return CUDA_SUCCESS;
}

template <class Handle>
CUresult parameter_count(Handle kernel, size_t* out) noexcept {
  const kernel_layout* const found = layout_of(kernel);
  if (!found) return CUDA_ERROR_INVALID_HANDLE;
  give(out, found->parameters.size());
  return CUDA_SUCCESS;
}

CUresult attribute(int* out, CUfunction_attribute which) noexcept {
  switch (which) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      give(out, 1024);
      break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      give(out, 16);
      break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      give(out, 90);
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
  give(pMod, library);
  return CUDA_SUCCESS;
}

CUresult cuKernelGetFunction(CUfunction* pFunc, CUkernel kernel) noexcept {
  give(pFunc, kernel);
  return CUDA_SUCCESS;
}

CUresult cuKernelGetLibrary(CUlibrary* pLib, CUkernel kernel) noexcept {
  return owner_of(pLib, kernel);
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

CUresult cuFuncGetModule(CUmodule* hmod, CUfunction hfunc) noexcept {
  return owner_of(hmod, hfunc);
}

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
