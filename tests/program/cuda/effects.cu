// SPDX-License-Identifier: MIT
// Launches that would write again what is there already, and those that would not.
#include <vector>

#include "check.h"

constexpr int groups = 64, threads = 256, n = groups * threads;
constexpr size_t bytes = n * sizeof(float);
__constant__ float factor = 1;
__device__ float offset = 0;

__global__ void apply(float* out, const float* in, float by) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = by;
    for (int k = 0; k < 64; ++k) sum += in[(i + k) % n];
    out[i] = factor * sum + offset;
}
__global__ void in_place(float* out, const float* in, float by) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = by;
    for (int k = 0; k < 64; ++k) sum += in[(i + k) % n];
    out[i] += sum;
}
__global__ void count(int* counter, const float* in) {
    if (in[blockIdx.x * blockDim.x + threadIdx.x] >= 0) atomicAdd(counter, 1);
}
__global__ void tell(const float* in) {
    if (blockIdx.x == 0 && threadIdx.x == 0) printf("in[0] is %g\n", in[0]);
}

float *in, *out, *other;

// Of 64 values that are all alike.
void is(const float* at, float value) {
    std::vector<float> host(n);
    OK(cudaMemcpy(host.data(), at, bytes, cudaMemcpyDeviceToHost));
    for (const float one : host) EXPECT(one == value);
}
void fill(float* at, float value) {
    const std::vector<float> host(n, value);
    OK(cudaMemcpy(at, host.data(), bytes, cudaMemcpyHostToDevice));
}
void apply_often(float* to, const float* from, float by) {
    for (int i = 0; i < 4; ++i) apply<<<groups, threads>>>(to, from, by);
    OK(cudaDeviceSynchronize());
}

int main(int argc, char**) {
    OK(cudaMalloc(&in, bytes));
    OK(cudaMalloc(&out, bytes));
    OK(cudaMalloc(&other, bytes));
    fill(in, 1);
    if (argc > 1) {  // how long each takes
        for (int i = 0; i < 400; ++i) apply<<<groups, threads>>>(out, in, 1);
        for (int i = 0; i < 40; ++i) in_place<<<groups, threads>>>(other, in, 1);
        OK(cudaDeviceSynchronize());
        is(out, 65);
        return passed();
    }
    apply_often(out, in, 1);
    is(out, 65);
    // What it reads, writes or has as arguments is changed in between.
    fill(in, 2);
    apply_often(out, in, 1);
    is(out, 129);
    apply_often(out, in, 2);
    is(out, 130);
    apply_often(out, in, 1);
    is(out, 129);
    OK(cudaMemset(out, 0, bytes));
    is(out, 0);
    apply_often(out, in, 1);
    is(out, 129);
    OK(cudaMemset2D(out, 64, 0, 32, 4));
    apply_often(out, in, 1);
    is(out, 129);
    OK(cudaMemcpy(out, in, bytes, cudaMemcpyDeviceToDevice));
    is(out, 2);
    apply_often(out, in, 1);
    is(out, 129);
    const float three = 3, ten = 10;
    OK(cudaMemcpyToSymbol(factor, &three, sizeof three));
    apply_often(out, in, 1);
    is(out, 387);
    OK(cudaMemcpyToSymbol(offset, &ten, sizeof ten));
    apply_often(out, in, 1);
    is(out, 397);
    // By another kernel; by turns; each from the other's.
    in_place<<<groups, threads>>>(out, in, 1);
    is(out, 526);
    apply_often(out, in, 1);
    is(out, 397);
    for (int i = 0; i < 4; ++i) {
        apply<<<groups, threads>>>(out, in, 1);
        apply<<<groups, threads>>>(other, out, 1);
    }
    is(other, 3 * (64 * 397 + 1) + 10);
    OK(cudaMemset(out, 0, bytes));
    OK(cudaMemset(other, 0, bytes));
    const float zero = 0, one = 1;
    OK(cudaMemcpyToSymbol(factor, &one, sizeof one));
    OK(cudaMemcpyToSymbol(offset, &zero, sizeof zero));
    for (int i = 0; i < 2; ++i) {
        apply<<<groups, threads>>>(out, other, 1);
        apply<<<groups, threads>>>(other, out, 1);
    }
    is(other, 64 * (64 * (64 + 1) + 1) + 1);
    // What is written to is read; what is printed.
    for (int i = 0; i < 8; ++i) in_place<<<groups, threads>>>(out, in, 0);
    is(out, 64 * (64 + 1) + 1 + 8 * 128);
    int* counter;
    int counted = 0;
    OK(cudaMalloc(&counter, sizeof(int)));
    OK(cudaMemset(counter, 0, sizeof(int)));
    for (int i = 0; i < 5; ++i) count<<<groups, threads>>>(counter, in);
    OK(cudaMemcpy(&counted, counter, sizeof counted, cudaMemcpyDeviceToHost));
    EXPECT(counted == 5 * n);
    for (int i = 0; i < 5; ++i) tell<<<groups, threads>>>(in);
    // The host writes where kernels read, without a call.
    float *pinned, *managed;
    OK(cudaMallocHost(&pinned, bytes));
    OK(cudaMallocManaged(&managed, bytes));
    for (float value = 1; value < 4; ++value) {
        for (int i = 0; i < n; ++i) pinned[i] = managed[i] = value;
        apply_often(out, pinned, 0);
        is(out, 64 * value);
        apply_often(out, managed, 0);
        is(out, 64 * value);
        for (int i = 0; i < n; ++i) managed[i] = 0;
        apply_often(managed, in, 1);
        EXPECT(managed[0] == 129 && managed[n - 1] == 129);
    }
    // Memory that is freed and given again.
    for (float value = 1; value < 4; ++value) {
        float* fresh;
        OK(cudaMalloc(&fresh, bytes));
        fill(fresh, value);
        apply_often(out, fresh, 0);
        is(out, 64 * value);
        OK(cudaFree(fresh));
    }
    OK(cudaDeviceReset());
    OK(cudaMalloc(&in, bytes));
    OK(cudaMalloc(&out, bytes));
    fill(in, 1);
    apply_often(out, in, 1);
    is(out, 65);
    return passed();
}
