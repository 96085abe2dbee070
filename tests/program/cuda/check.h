// SPDX-License-Identifier: MIT
// What the test programs share: a call that has to succeed, and a last word.
#pragma once

#include <cstdio>
#include <cstdlib>

#define OK(call)                                                                               \
    do {                                                                                       \
        const cudaError_t made = (call);                                                       \
        if (made != cudaSuccess) {                                                             \
            std::printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorName(made)); \
            std::exit(1);                                                                      \
        }                                                                                      \
    } while (false)

#define EXPECT(condition)                                                       \
    do {                                                                        \
        if (!(condition)) {                                                     \
            std::printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            std::exit(1);                                                       \
        }                                                                       \
    } while (false)

inline int passed() {
    std::printf("PASS\n");
    return 0;
}
