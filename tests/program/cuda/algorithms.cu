// SPDX-License-Identifier: MIT
// Sorting and sums as thrust and CUB have them.
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/sort.h>
#include <thrust/transform.h>

#include <cub/cub.cuh>

#include "check.h"

int main() {
    constexpr int n = 5000;
    thrust::host_vector<int> host(n);
    unsigned state = 1;
    long long sum = 0;
    for (int& one : host) {
        state = state * 1664525u + 1013904223u;
        one = static_cast<int>(state >> 12);
        sum += one;
    }
    thrust::device_vector<int> x = host;
    EXPECT(thrust::reduce(x.begin(), x.end(), 0LL) == sum);
    thrust::sort(x.begin(), x.end());
    const thrust::host_vector<int> sorted = x;
    for (int i = 1; i < n; ++i) EXPECT(sorted[i - 1] <= sorted[i]);

    size_t bytes = 0;
    int* in = thrust::raw_pointer_cast(x.data());
    thrust::device_vector<int> out(n);
    int* to = thrust::raw_pointer_cast(out.data());
    OK(cub::DeviceScan::InclusiveSum(nullptr, bytes, in, to, n));
    thrust::device_vector<char> room(bytes);
    OK(cub::DeviceScan::InclusiveSum(thrust::raw_pointer_cast(room.data()), bytes, in, to, n));
    OK(cudaDeviceSynchronize());
    const thrust::host_vector<int> sums = out;
    int expected = 0;
    for (int i = 0; i < n; ++i) {
        expected = static_cast<int>(static_cast<unsigned>(expected) + sorted[i]);
        EXPECT(sums[i] == expected);
    }
    return passed();
}
