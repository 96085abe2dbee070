// SPDX-License-Identifier: MIT
// Exclusive prefix sums, work-efficient (Blelloch): each group scans its part up and down a tree in
// shared memory, the groups' totals are scanned by one group, and are added in a third launch.

#define PART 512
#define AVOID_CONFLICTS(i) ((i) + ((i) >> 5))

extern "C" __global__ void scan_parts(const int* in, int* out, int* totals, int n) {
    __shared__ int part[AVOID_CONFLICTS(PART)];
    const int t = threadIdx.x, first = blockIdx.x * PART;
    part[AVOID_CONFLICTS(t)] = first + t < n ? in[first + t] : 0;
    part[AVOID_CONFLICTS(t + PART / 2)] = first + t + PART / 2 < n ? in[first + t + PART / 2] : 0;
    int offset = 1;
    for (int d = PART / 2; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d) part[AVOID_CONFLICTS(offset * (2 * t + 2) - 1)] += part[AVOID_CONFLICTS(offset * (2 * t + 1) - 1)];
        offset *= 2;
    }
    __syncthreads();
    if (t == 0) {
        if (totals) totals[blockIdx.x] = part[AVOID_CONFLICTS(PART - 1)];
        part[AVOID_CONFLICTS(PART - 1)] = 0;
    }
    for (int d = 1; d < PART; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (t < d) {
            const int low = AVOID_CONFLICTS(offset * (2 * t + 1) - 1), high = AVOID_CONFLICTS(offset * (2 * t + 2) - 1);
            const int value = part[low];
            part[low] = part[high];
            part[high] += value;
        }
    }
    __syncthreads();
    if (first + t < n) out[first + t] = part[AVOID_CONFLICTS(t)];
    if (first + t + PART / 2 < n) out[first + t + PART / 2] = part[AVOID_CONFLICTS(t + PART / 2)];
}

extern "C" __global__ void add_totals(int* out, const int* totals, int n) {
    const int i = blockIdx.x * PART + threadIdx.x;
    const int add = totals[blockIdx.x];
    if (i < n) out[i] += add;
    if (i + PART / 2 < n) out[i + PART / 2] += add;
}
