// SPDX-License-Identifier: MIT
// Breadth-first search, a launch per level: the frontier of the level is a queue that the level
// before has filled with atomics. Edges are a function of their number, four to seven per node.

__device__ __forceinline__ int degree(int node) { return 4 + (node * 2654435761u >> 30); }
__device__ __forceinline__ int target(int node, int edge, int nodes) {
    unsigned h = node * 0x9e3779b9u + edge * 0x85ebca6bu;
    h ^= h >> 15;
    h *= 0x2c1b3c6du;
    h ^= h >> 12;
    return (int)(h % (unsigned)nodes);
}

// `sizes[level]` nodes stand in `from`; sizes[level + 1] counts those put into `to`, in any order.
extern "C" __global__ void bfs_level(int* levels, const int* from, int* to, int* sizes, int level, int nodes) {
    const int size = sizes[level];
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < size; i += gridDim.x * blockDim.x) {
        const int node = from[i];
        for (int e = 0; e < degree(node); ++e) {
            const int next = target(node, e, nodes);
            if (atomicCAS(&levels[next], -1, level + 1) == -1) to[atomicAdd(&sizes[level + 1], 1)] = next;
        }
    }
}

// Queues hold nodes in the order of the atomics: wiped, so that memory has one result.
extern "C" __global__ void bfs_wipe(int* queue, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) queue[i] = 0;
}
