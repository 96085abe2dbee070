// SPDX-License-Identifier: MIT
// Back-propagation through a layer of 16 hidden nodes: layerforward multiplies inputs and weights and adds
// by a tree in shared memory, adjust_weights corrects the weights. 16 inputs to a group.
#include "portable.h"

#define H 16

// Inputs and hidden nodes are counted from 1; 0 is the bias. Leaves the tree's sums in the weights, as
// the benchmark that it follows does.
KERNEL(16, 16, 1) bpnn_layerforward(GLOBAL const float* input, GLOBAL float* weights, GLOBAL float* partial, int hidden ROOM) {
    SHARED float node[H];
    SHARED float w[H][H];
    const int tx = LOCAL_X, ty = LOCAL_Y, group = GROUP_Y;
    const int at = (hidden + 1) * (H * group + ty + 1) + tx + 1;
    if (tx == 0) node[ty] = input[H * group + ty + 1];
    BARRIER();
    w[ty][tx] = weights[at];
    BARRIER();
    w[ty][tx] = w[ty][tx] * node[ty];
    BARRIER();
    for (int step = 2; step <= H; step *= 2) {
        if (ty % step == 0) w[ty][tx] = w[ty][tx] + w[ty + step / 2][tx];
        BARRIER();
    }
    weights[at] = w[ty][tx];
    BARRIER();
    if (tx == 0) partial[group * hidden + ty] = w[tx][ty];
}

KERNEL(16, 16, 1) bpnn_adjust_weights(GLOBAL const float* delta, int hidden, GLOBAL const float* input, GLOBAL float* weights,
                                      GLOBAL float* before ROOM) {
    const int tx = LOCAL_X, ty = LOCAL_Y, group = GROUP_Y;
    const int at = (hidden + 1) * (H * group + ty + 1) + tx + 1;
    const int x = tx + 1, y = H * group + ty + 1;
    const float change = FMA(0.3f * delta[x], input[y], 0.3f * before[at]);
    weights[at] = weights[at] + change;
    before[at] = change;
    BARRIER();
    if (ty == 0 && group == 0) {
        const float bias = FMA(0.3f, delta[x], 0.3f * before[x]);
        weights[x] = weights[x] + bias;
        before[x] = bias;
    }
}
