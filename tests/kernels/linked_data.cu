// SPDX-License-Identifier: MIT
// Variables that hold addresses of others when the module is loaded: a list that is linked already, tables of strings
// in global and constant memory, pointers into arrays and to pointers, tables of functions that two kernels call.

struct Node {
    unsigned value;
    Node* next;
};
__device__ Node last = {3u, nullptr};
__device__ Node others[2] = {{5u, &last}, {7u, &last}};
__device__ Node first = {11u, &others[1]};
__device__ Node* entry = &first;
__device__ Node** door = &entry;

__constant__ const char* months[5] = {"January", "February", "March", "April", "May"};
__device__ const char* suits[4] = {"clubs", "diamonds", "hearts", "spades"};

__device__ unsigned cells[16] = {1u, 2u, 4u, 8u};
__constant__ unsigned* window = &cells[5];
__constant__ const unsigned primes[6] = {2u, 3u, 5u, 7u, 11u, 13u};
__device__ const unsigned* middle[2] = {&primes[3], cells + 2};

typedef unsigned (*Letter)(const char*);
__device__ __noinline__ unsigned first_letter(const char* text) { return static_cast<unsigned char>(text[0]); }
__device__ __noinline__ unsigned length_of(const char* text) {
    unsigned n = 0;
    while (text[n] != 0) ++n;
    return n;
}
__device__ Letter letters[2] = {length_of, first_letter};

extern "C" __global__ void linked_walk(unsigned* out) {
    const unsigned me = threadIdx.x;
    const Node* at = *door;
    unsigned sum = 0;
    for (unsigned i = 0; i < me; ++i) {
        sum = sum * 31u + at->value;
        at = at->next != nullptr ? at->next : others;
    }
    const char* const word = (me & 1u) != 0u ? months[me % 5u] : suits[me % 4u];
    out[me] = sum ^ letters[me >> 4](word) << 24 ^ middle[me >> 4][me & 1u];
}

extern "C" __global__ void linked_change(unsigned* out) {
    const unsigned me = threadIdx.x;
    if (me < 8u) window[static_cast<int>(me) - 2] += me + 1u;
    if (me == 0u) entry = entry->next;
    __syncthreads();
    out[me] += cells[me & 15u] * 100u + letters[me & 1u](suits[me >> 3]) + (*door)->value;
}

// As it was when the module was loaded.
extern "C" __global__ void linked_restore(unsigned* out) {
    const unsigned me = threadIdx.x;
    cells[me] = me < 4u ? 1u << me : 0u;
    if (me == 0u) entry = &first;
    out[me] += static_cast<unsigned>(door == &entry);
}
