// SPDX-License-Identifier: Apache-2.0
// Kernels and variables that the host code of nvcc registers, and its launches.
#include "emulated_runtime/registered_program.hpp"

namespace halfwarp::emulated_runtime::testing {
namespace {

class program_test : public runtime_test {};

TEST_F(program_test, code_is_loaded_at_its_first_use_and_unloaded_at_the_end) {
  {
    const program registered{0x100};
    EXPECT_EQ(recorded.loads, 0);
    cudaFunction_t function = nullptr;
    EXPECT_EQ(cudaGetFuncBySymbol(&function, &stub), cudaSuccess);
    EXPECT_EQ(function, reinterpret_cast<cudaFunction_t>(a_function()));
    EXPECT_EQ(cudaGetFuncBySymbol(&function, &stub), cudaSuccess);
    EXPECT_EQ(recorded.loads, 1);
    EXPECT_EQ(recorded.loaded, reinterpret_cast<void*>(0x100));
    EXPECT_EQ(cudaGetFuncBySymbol(&function, &absent_stub), cudaErrorInvalidDeviceFunction);
    EXPECT_EQ(cudaGetFuncBySymbol(nullptr, &stub), cudaErrorInvalidValue);
    EXPECT_EQ(recorded.unloads, 0);
  }
  EXPECT_EQ(recorded.unloads, 1);
  cudaKernel_t kernel = nullptr;
  EXPECT_EQ(cudaGetKernel(&kernel, &stub), cudaErrorInvalidDeviceFunction);
}

TEST_F(program_test, the_last_registration_of_an_address_is_used_until_it_ends) {
  const program first{0x100};
  void* address = nullptr;
  {
    const program second{0x200};
    EXPECT_EQ(cudaGetSymbolAddress(&address, &variable), cudaSuccess);
    EXPECT_EQ(address, reinterpret_cast<void*>(0x1200));
  }
  EXPECT_EQ(cudaGetSymbolAddress(&address, &variable), cudaSuccess);
  EXPECT_EQ(address, reinterpret_cast<void*>(0x1100));
}

TEST_F(program_test, a_variable_has_an_address_and_a_size) {
  const program registered{0x100};
  void* address = nullptr;
  std::size_t bytes = 0;
  EXPECT_EQ(cudaGetSymbolSize(&bytes, &variable), cudaSuccess);
  EXPECT_EQ(bytes, 100u);
  EXPECT_EQ(cudaGetSymbolSize(nullptr, &variable), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetSymbolAddress(nullptr, &variable), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetSymbolAddress(&address, &absent_variable), cudaErrorInvalidSymbol);
  EXPECT_EQ(cudaGetSymbolAddress(&address, &stub), cudaErrorInvalidSymbol);
}

TEST_F(program_test, a_copy_stays_inside_a_variable) {
  const program registered{0x100};
  char host[100];
  constexpr auto to = cudaMemcpyHostToDevice, from = cudaMemcpyDeviceToHost;
  EXPECT_EQ(cudaMemcpyToSymbol(&variable, host, 60, 40, to), cudaSuccess);
  EXPECT_EQ(recorded.copy.dstDevice, 0x1100u + 40);
  EXPECT_EQ(recorded.copy.WidthInBytes, 60u);
  EXPECT_EQ(cudaMemcpyFromSymbol(host, &variable, 100, 0, from), cudaSuccess);
  EXPECT_EQ(recorded.copy.srcDevice, 0x1100u);
  EXPECT_EQ(cudaMemcpyToSymbol(&variable, host, 0, 100, to), cudaSuccess);
  EXPECT_EQ(cudaMemcpyToSymbol(&variable, host, 61, 40, to), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyToSymbol(&variable, host, 0, 101, to), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyToSymbol(&variable, host, ~std::size_t{0}, 40, to), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyToSymbol(&variable, host, 4, 0, from), cudaErrorInvalidMemcpyDirection);
  EXPECT_EQ(cudaMemcpyFromSymbol(host, &variable, 4, 0, to), cudaErrorInvalidMemcpyDirection);
  EXPECT_EQ(cudaMemcpyToSymbol(&variable, host, 4, 0, cudaMemcpyHostToHost),
            cudaErrorInvalidMemcpyDirection);
}

TEST_F(program_test, configurations_of_launches_are_a_stack) {
  const auto stream = reinterpret_cast<CUstream>(0x77);
  EXPECT_EQ(__cudaPushCallConfiguration({1, 2, 3}, {4, 5, 6}, 7, stream), 0u);
  EXPECT_EQ(__cudaPushCallConfiguration({8, 9, 10}, {11, 12, 13}, 14, nullptr), 0u);
  dim3 grid, block;
  std::size_t bytes = 0;
  CUstream out = nullptr;
  EXPECT_EQ(__cudaPopCallConfiguration(&grid, &block, &bytes, &out), cudaSuccess);
  EXPECT_EQ(grid.z, 10u);
  EXPECT_EQ(bytes, 14u);
  EXPECT_EQ(__cudaPopCallConfiguration(&grid, &block, &bytes, &out), cudaSuccess);
  EXPECT_EQ(grid.y, 2u);
  EXPECT_EQ(block.x, 4u);
  EXPECT_EQ(bytes, 7u);
  EXPECT_EQ(out, stream);
  EXPECT_EQ(__cudaPopCallConfiguration(&grid, &block, &bytes, &out), cudaErrorMissingConfiguration);
  EXPECT_EQ(cudaGetLastError(), cudaErrorMissingConfiguration);
}

TEST_F(program_test, a_kernel_is_launched_by_its_record) {
  const program registered{0x100};
  cudaKernel_t kernel = nullptr;
  EXPECT_EQ(__cudaGetKernel(&kernel, &stub), cudaSuccess);
  EXPECT_EQ(recorded.loads, 0) << "the first launch loads the code";
  EXPECT_EQ(__cudaLaunchKernel(kernel, {2, 1, 1}, {3, 1, 1}, nullptr, 0, nullptr), cudaSuccess);
  EXPECT_EQ(recorded.launch.gridDimX, 2u);
  EXPECT_EQ(recorded.launch.blockDimX, 3u);
  EXPECT_EQ(__cudaGetKernel(nullptr, &stub), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(__cudaGetKernel(&kernel, &variable), cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(kernel, nullptr);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(cudaFuncSetSharedMemConfig(&stub, cudaSharedMemBankSizeEightByte), cudaSuccess);
}

TEST_F(program_test, managed_variables_get_their_addresses_or_a_message) {
  const program registered{0x100};
  managed_slot = nullptr;
  recorded.answer = CUDA_ERROR_NOT_FOUND;
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(__cudaInitModule(registered.code()), 0);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "emulator: managed variables of the program cannot be used: cudaErrorInvalidSymbol\n");
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidSymbol);
  EXPECT_EQ(managed_slot, nullptr);
  recorded.answer = CUDA_SUCCESS;
  EXPECT_EQ(__cudaInitModule(registered.code()), 1);
  EXPECT_EQ(managed_slot, reinterpret_cast<void*>(0x5000));
}

TEST_F(program_test, a_failed_load_is_repeated) {
  const program registered{0x100};
  cudaFunction_t function = nullptr;
  recorded.load_answer = CUDA_ERROR_OUT_OF_MEMORY;
  EXPECT_EQ(cudaGetFuncBySymbol(&function, &stub), cudaErrorMemoryAllocation);
  recorded.load_answer = CUDA_SUCCESS;
  EXPECT_EQ(cudaGetFuncBySymbol(&function, &stub), cudaSuccess);
  EXPECT_EQ(recorded.loads, 2);
}

TEST_F(program_test, functions_of_no_known_program_are_named) {
  ::testing::internal::CaptureStderr();
  __cudaRegisterHostVar(nullptr, nullptr, nullptr, 0);
  __cudaRegisterUnifiedTable(nullptr, nullptr);
  EXPECT_EQ(__cudaGetProcAddress(), nullptr);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "emulator: __cudaRegisterHostVar is not emulated\n"
            "emulator: __cudaRegisterUnifiedTable is not emulated\n"
            "emulator: __cudaGetProcAddress is not emulated\n");
}

TEST_F(program_test, undocumented_tables_do_not_exist) {
  const void* table = nullptr;
  const cudaUUID_t id{};
  EXPECT_EQ(cudaGetExportTable(&table, &id), cudaErrorSymbolNotFound);
  EXPECT_EQ(cudaGetExportTable(nullptr, &id), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetExportTable(&table, nullptr), cudaErrorInvalidValue);
}

}  // namespace
}  // namespace halfwarp::emulated_runtime::testing
