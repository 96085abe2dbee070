// SPDX-License-Identifier: MIT
// A library with the entries of CUDA's driver, each of which goes on to the function of the program
// that loads it (executing_driver.cpp), which exports them.
#include <cstddef>

#define FORWARD(name, parameters, arguments)    \
    extern "C" int executing_##name parameters; \
    extern "C" int name parameters { return executing_##name arguments; }

FORWARD(cuInit, (unsigned a0), (a0))
FORWARD(cuDriverGetVersion, (int* a0), (a0))
FORWARD(cuGetErrorName, (int a0, const char** a1), (a0, a1))
FORWARD(cuDeviceGetCount, (int* a0), (a0))
FORWARD(cuDeviceGet, (int* a0, int a1), (a0, a1))
FORWARD(cuDeviceGetName, (char* a0, int a1, int a2), (a0, a1, a2))
FORWARD(cuDeviceTotalMem_v2, (std::size_t * a0, int a1), (a0, a1))
FORWARD(cuDeviceGetAttribute, (int* a0, int a1, int a2), (a0, a1, a2))
FORWARD(cuDevicePrimaryCtxRetain, (void** a0, int a1), (a0, a1))
FORWARD(cuDevicePrimaryCtxRelease_v2, (int a0), (a0))
FORWARD(cuCtxSetCurrent, (void* a0), (a0))
FORWARD(cuModuleLoadData, (void** a0, const void* a1), (a0, a1))
FORWARD(cuModuleUnload, (void* a0), (a0))
FORWARD(cuModuleGetFunction, (void** a0, void* a1, const char* a2), (a0, a1, a2))
FORWARD(cuFuncGetAttribute, (int* a0, int a1, void* a2), (a0, a1, a2))
FORWARD(cuFuncSetAttribute, (void* a0, int a1, int a2), (a0, a1, a2))
FORWARD(cuOccupancyMaxActiveBlocksPerMultiprocessor, (int* a0, void* a1, int a2, std::size_t a3),
        (a0, a1, a2, a3))
FORWARD(cuLaunchKernel,
        (void* a0, unsigned a1, unsigned a2, unsigned a3, unsigned a4, unsigned a5, unsigned a6,
         unsigned a7, void* a8, void** a9, void** a10),
        (a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10))
FORWARD(cuMemAlloc_v2, (unsigned long long* a0, std::size_t a1), (a0, a1))
FORWARD(cuMemFree_v2, (unsigned long long a0), (a0))
FORWARD(cuMemcpyHtoD_v2, (unsigned long long a0, const void* a1, std::size_t a2), (a0, a1, a2))
FORWARD(cuMemcpyDtoH_v2, (void* a0, unsigned long long a1, std::size_t a2), (a0, a1, a2))
FORWARD(cuMemsetD8_v2, (unsigned long long a0, unsigned char a1, std::size_t a2), (a0, a1, a2))
FORWARD(cuEventCreate, (void** a0, unsigned a1), (a0, a1))
FORWARD(cuEventDestroy_v2, (void* a0), (a0))
FORWARD(cuEventRecord, (void* a0, void* a1), (a0, a1))
FORWARD(cuEventQuery, (void* a0), (a0))
FORWARD(cuEventElapsedTime, (float* a0, void* a1, void* a2), (a0, a1, a2))
FORWARD(cuStreamCreate, (void** a0, unsigned a1), (a0, a1))
FORWARD(cuStreamDestroy_v2, (void* a0), (a0))
FORWARD(cuStreamBeginCapture_v2, (void* a0, int a1), (a0, a1))
FORWARD(cuStreamEndCapture, (void* a0, void** a1), (a0, a1))
FORWARD(cuGraphInstantiateWithFlags, (void** a0, void* a1, unsigned long long a2), (a0, a1, a2))
FORWARD(cuGraphLaunch, (void* a0, void* a1), (a0, a1))
FORWARD(cuGraphExecDestroy, (void* a0), (a0))
FORWARD(cuGraphDestroy, (void* a0), (a0))
FORWARD(cuTexObjectCreate, (unsigned long long* a0, const void* a1, const void* a2, const void* a3),
        (a0, a1, a2, a3))
FORWARD(cuTexObjectDestroy, (unsigned long long a0), (a0))
