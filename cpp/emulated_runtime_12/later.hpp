// SPDX-License-Identifier: Apache-2.0
// References to functions of CUDA 13 that this library exports in another form. Both have one name
// and differ in the version.
#pragma once

#include <cuda_runtime_api.h>

extern "C" {
extern decltype(cudaChooseDevice) later_cudaChooseDevice;
extern decltype(cudaCreateSurfaceObject) later_cudaCreateSurfaceObject;
extern decltype(cudaCreateTextureObject) later_cudaCreateTextureObject;
extern decltype(cudaGetDeviceProperties) later_cudaGetDeviceProperties;
extern decltype(cudaGetSurfaceObjectResourceDesc) later_cudaGetSurfaceObjectResourceDesc;
extern decltype(cudaGetTextureObjectResourceDesc) later_cudaGetTextureObjectResourceDesc;
extern decltype(cudaGetTextureObjectResourceViewDesc) later_cudaGetTextureObjectResourceViewDesc;
extern decltype(cudaGraphAddDependencies) later_cudaGraphAddDependencies;
extern decltype(cudaGraphAddNode) later_cudaGraphAddNode;
extern decltype(cudaGraphGetEdges) later_cudaGraphGetEdges;
extern decltype(cudaGraphNodeGetDependencies) later_cudaGraphNodeGetDependencies;
extern decltype(cudaGraphNodeGetDependentNodes) later_cudaGraphNodeGetDependentNodes;
extern decltype(cudaGraphRemoveDependencies) later_cudaGraphRemoveDependencies;
extern decltype(cudaMemAdvise) later_cudaMemAdvise;
extern decltype(cudaMemPrefetchAsync) later_cudaMemPrefetchAsync;
extern decltype(cudaMemPrefetchAsync) later_cudaMemPrefetchAsync_ptsz;
extern decltype(cudaMemcpy3DBatchAsync) later_cudaMemcpy3DBatchAsync;
extern decltype(cudaMemcpy3DBatchAsync) later_cudaMemcpy3DBatchAsync_ptsz;
extern decltype(cudaMemcpyBatchAsync) later_cudaMemcpyBatchAsync;
extern decltype(cudaMemcpyBatchAsync) later_cudaMemcpyBatchAsync_ptsz;
extern decltype(cudaPointerGetAttributes) later_cudaPointerGetAttributes;
extern decltype(cudaRuntimeGetVersion) later_cudaRuntimeGetVersion;
extern decltype(cudaStreamGetCaptureInfo) later_cudaStreamGetCaptureInfo;
extern decltype(cudaStreamGetCaptureInfo) later_cudaStreamGetCaptureInfo_ptsz;
extern decltype(cudaStreamUpdateCaptureDependencies) later_cudaStreamUpdateCaptureDependencies;
extern decltype(cudaStreamUpdateCaptureDependencies) later_cudaStreamUpdateCaptureDependencies_ptsz;
}

asm(".irp name, "
    "cudaChooseDevice, cudaCreateSurfaceObject, cudaCreateTextureObject, "
    "cudaGetDeviceProperties, cudaGetSurfaceObjectResourceDesc, "
    "cudaGetTextureObjectResourceDesc, cudaGetTextureObjectResourceViewDesc, "
    "cudaGraphAddDependencies, cudaGraphAddNode, cudaGraphGetEdges, "
    "cudaGraphNodeGetDependencies, cudaGraphNodeGetDependentNodes, "
    "cudaGraphRemoveDependencies, cudaMemAdvise, cudaMemPrefetchAsync, "
    "cudaMemPrefetchAsync_ptsz, cudaMemcpy3DBatchAsync, cudaMemcpy3DBatchAsync_ptsz, "
    "cudaMemcpyBatchAsync, cudaMemcpyBatchAsync_ptsz, cudaPointerGetAttributes, "
    "cudaRuntimeGetVersion, cudaStreamGetCaptureInfo, cudaStreamGetCaptureInfo_ptsz, "
    "cudaStreamUpdateCaptureDependencies, cudaStreamUpdateCaptureDependencies_ptsz"
    "\n.symver later_\\name, \\name@libcudart.so.13\n.endr");
