// SPDX-License-Identifier: MIT
// k-means: each thread finds the centre nearest to its point. Features lie column by column, as swap
// leaves them: consecutive threads read consecutive words there, and all the same word of a centre.
#include "portable.h"

KERNEL(256, 1, 1) kmeans_kernel_c(GLOBAL const float* feature, GLOBAL const float* centres, GLOBAL int* membership, int points,
                                  int clusters, int features ROOM) {
    const int i = GLOBAL_X;
    if (i >= points) return;
    int nearest = 0;
    float least = 3.40282347e+38f;
    for (int k = 0; k < clusters; ++k) {
        float distance = 0;
        for (int f = 0; f < features; ++f) {
            const float d = feature[f * points + i] - centres[k * features + f];
            distance = FMA(d, d, distance);
        }
        if (distance < least) {
            least = distance;
            nearest = k;
        }
    }
    membership[i] = nearest;
}

// From point by point to feature by feature.
KERNEL(64, 1, 1) kmeans_swap(GLOBAL const float* feature, GLOBAL float* swapped, int points, int features ROOM) {
    const int i = GLOBAL_X;
    if (i >= points) return;
    for (int f = 0; f < features; ++f) swapped[f * points + i] = feature[i * features + f];
}
