// SPDX-License-Identifier: Apache-2.0
// Libraries, modules and kernels of the null driver: handles that know their parameter layouts.
#include <fstream>
#include <iterator>
#include <memory>

#include "emulator/null/answer.hpp"
#include "emulator/null/image.hpp"
#include "emulator/null_driver.hpp"

namespace halfwarp::emulator::null_driver {

namespace {

struct code;

// CUkernel and CUfunction both are addresses of one of these.
struct kernel {
  kernel_layout layout;
  code* owner;
};

// CUlibrary and CUmodule both are addresses of one of these.
struct code {
  std::vector<std::unique_ptr<kernel>> kernels;
};

template <class Handle>
CUresult load(Handle* out, const void* image) noexcept {
  if (!out || !image) return CUDA_ERROR_INVALID_VALUE;
  auto made = std::make_unique<code>();
  for (auto& layout : read_kernels(image)) {
    made->kernels.push_back(std::make_unique<kernel>(kernel{std::move(layout), made.get()}));
  }
  *out = reinterpret_cast<Handle>(made.release());
  return CUDA_SUCCESS;
}

template <class Handle>
CUresult load_file(Handle* out, const char* path) noexcept {
  std::ifstream file(path ? path : "", std::ios::binary);
  if (!file) return CUDA_ERROR_FILE_NOT_FOUND;
  const std::string image{std::istreambuf_iterator<char>(file), {}};
  return load(out, image.c_str());
}

template <class Handle>
CUresult unload(Handle handle) noexcept {
  delete reinterpret_cast<code*>(handle);
  return CUDA_SUCCESS;
}

template <class Handle, class Owner>
CUresult find(Handle* out, Owner owner, const char* name) noexcept {
  if (!out || !owner || !name) return CUDA_ERROR_INVALID_VALUE;
  for (const auto& k : reinterpret_cast<code*>(owner)->kernels) {
    if (k->layout.name != name) continue;
    *out = reinterpret_cast<Handle>(k.get());
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_NOT_FOUND;
}

template <class Handle, class Owner>
CUresult list(Handle* out, unsigned capacity, Owner owner) noexcept {
  const auto& kernels = reinterpret_cast<code*>(owner)->kernels;
  for (unsigned i = 0; i < capacity && i < kernels.size(); ++i) {
    out[i] = reinterpret_cast<Handle>(kernels[i].get());
  }
  return CUDA_SUCCESS;
}

template <class Owner>
CUresult count(unsigned* out, Owner owner) noexcept {
  give(out, reinterpret_cast<code*>(owner)->kernels.size());
  return CUDA_SUCCESS;
}

template <class Handle>
CUresult name_of(const char** out, Handle handle) noexcept {
  give(out, reinterpret_cast<kernel*>(handle)->layout.name.c_str());
  return CUDA_SUCCESS;
}

template <class Handle>
CUresult parameter_info(Handle handle, size_t index, size_t* offset, size_t* size) noexcept {
  const auto& parameters = reinterpret_cast<kernel*>(handle)->layout.parameters;
  if (index >= parameters.size()) return CUDA_ERROR_INVALID_VALUE;
  give(offset, parameters[index].offset);
  give(size, parameters[index].size);
  return CUDA_SUCCESS;
}

template <class Handle>
CUresult parameter_count(Handle handle, size_t* out) noexcept {
  give(out, reinterpret_cast<kernel*>(handle)->layout.parameters.size());
  return CUDA_SUCCESS;
}

CUresult attribute(int* out, CUfunction_attribute which) noexcept {
  switch (which) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: give(out, 1024); break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS: give(out, 16); break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION: give(out, 90); break;
    default: zero(out);
  }
  return CUDA_SUCCESS;
}

}  // namespace

CUresult cuLibraryLoadData(CUlibrary* library, const void* code, CUjit_option*, void**, unsigned int,
                           CUlibraryOption*, void**, unsigned int) noexcept {
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

CUresult cuKernelGetLibrary(CUlibrary* pLib, CUkernel handle) noexcept {
  give(pLib, reinterpret_cast<kernel*>(handle)->owner);
  return CUDA_SUCCESS;
}

CUresult cuKernelGetName(const char** name, CUkernel hfunc) noexcept { return name_of(name, hfunc); }

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

CUresult cuFuncGetName(const char** name, CUfunction hfunc) noexcept { return name_of(name, hfunc); }

CUresult cuFuncGetModule(CUmodule* hmod, CUfunction hfunc) noexcept {
  give(hmod, reinterpret_cast<kernel*>(hfunc)->owner);
  return CUDA_SUCCESS;
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
