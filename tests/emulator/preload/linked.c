/* SPDX-License-Identifier: Apache-2.0 */
/* A program linked with the driver and with NVRTC, without look-ups by name. */
#include <stdio.h>
#include <stdlib.h>

typedef void* nvrtcProgram;
int nvrtcCreateProgram(nvrtcProgram*, const char*, const char*, int, const char**, const char**);
int nvrtcCompileProgram(nvrtcProgram, int, const char**);
int nvrtcGetCUBINSize(nvrtcProgram, size_t*);
int nvrtcGetCUBIN(nvrtcProgram, char*);
int nvrtcDestroyProgram(nvrtcProgram*);
int cuInit(unsigned);
int cuDevicePrimaryCtxRetain(void**, int);
int cuCtxSetCurrent(void*);
int cuModuleLoadData(void**, const void*);
int cuModuleGetFunction(void**, void*, const char*);

int main(void) {
  const char* const source = "extern \"C\" __global__ void fill(int* out) { *out = 3; }";
  const char* option = "-arch=sm_90";
  nvrtcProgram program;
  void *context, *module, *kernel;
  size_t size;
  if (nvrtcCreateProgram(&program, source, "fill.cu", 0, NULL, NULL)) return 10;
  if (nvrtcCompileProgram(program, 1, &option)) return 11;
  if (nvrtcGetCUBINSize(program, &size)) return 12;
  char* const cubin = malloc(size);
  if (nvrtcGetCUBIN(program, cubin)) return 13;
  if (nvrtcDestroyProgram(&program)) return 14;
  if (cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context)) return 15;
  const int code = cuModuleLoadData(&module, cubin);
  if (code) {
    printf("load answered %d\n", code);
    return 0;
  }
  puts(cuModuleGetFunction(&kernel, module, "fill") ? "no kernel" : "loaded");
  return 0;
}
