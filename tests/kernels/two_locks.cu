// SPDX-License-Identifier: MIT
// Second hand. Lanes of one warp that spin at two places at once: odd threads for one lock, even ones for another, each winner
// waiting behind its loop for those that spin until it unlocks.

extern "C" __global__ void two_locks(int* lock, volatile unsigned* sums) {
    const unsigned t = threadIdx.x;
    if ((t & 1u) != 0u) {
        bool done = false;
        while (!done) {
            if (atomicCAS(&lock[0], 0, 1) == 0) {
                __threadfence();
                sums[0] = sums[0] + t;
                __threadfence();
                atomicExch(&lock[0], 0);
                done = true;
            }
        }
        sums[2 + t] = sums[0] != 0u ? 7u : 0u;
    } else {
        unsigned tries = 0;
        while (atomicCAS(&lock[1], 0, 1) != 0)
            ++tries;
        __threadfence();
        sums[1] = sums[1] * 1u + 3u * t + 1u;
        __threadfence();
        atomicExch(&lock[1], 0);
        sums[2 + t] = tries > 1000000u ? 1u : 2u;
    }
}
