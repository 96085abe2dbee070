// SPDX-License-Identifier: MIT
// What the eight workloads share: sizes, seeded inputs, time and result. Each has one kernel, which
// is sequential, and OpenMP's where the compiler takes its pragmas:
//
//   gcc -O2 lud.c -lm -o lud              # sequential
//   gcc -O2 -fopenmp lud.c -lm -o lud     # OpenMP
//   ./lud small --write out.bin           # or paper, or 100: a matrix of 100 by 100
//   automatch predict lud.c --kernel lud -- paper
//
// -DREAL=float computes in single precision. Including this file defines main(), but for
// OCCUPIPE_OWN_MAIN.
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifndef REAL
#define REAL double
#endif
typedef REAL real;

#ifndef OCCUPIPE_OWN_MAIN
enum { most_numbers = 4 };

struct Sizes {
    const char* names;  // "NX NY NZ STEPS"
    int numbers;        // how many
    int small[most_numbers];
    int paper[most_numbers];  // Table II of Helal et al. 2017
};

// Each workload defines these. `run` computes from the inputs, which it leaves as they were, into
// `result`; `restore` comes before each.
static const struct Sizes sizes;
static void make_input(const int* size);
static void restore(void);
static void run(void);
static const real* result;
static size_t results;
// The inputs as --write-input writes them, one after the other; null ends them.
static const real* input[8];
static size_t inputs[8];
#endif

// Uniform in [from, to); splitmix64, the same on every machine.
static uint64_t random_state = 1;
static inline real uniform(double from, double to) {
    random_state += 0x9e3779b97f4a7c15u;
    uint64_t z = random_state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return (real)(from + (to - from) * ((double)(z >> 11) * 0x1p-53));
}

static inline void* room(size_t count, size_t bytes) {
    void* const memory = calloc(count, bytes);
    if (memory == NULL) {
        fprintf(stderr, "no memory for %zu elements\n", count);
        exit(1);
    }
    return memory;
}

static inline real* reals(size_t count) { return (real*)room(count, sizeof(real)); }

static inline double seconds_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline void write_reals(FILE* file, const char* name, const real* values, size_t count) {
    if (file != NULL && fwrite(values, sizeof(real), count, file) == count) return;
    perror(name);
    exit(1);
}

static inline int whole_number(const char* text) {
    char* end = NULL;
    const long number = strtol(text, &end, 10);
    if (*text != 0 && *end == 0 && number > 0 && number < 1000000000) return (int)number;
    fprintf(stderr, "'%s' is not a positive whole number\n", text);
    exit(2);
}

#ifndef OCCUPIPE_OWN_MAIN
// Also prints the time of each run, "seconds 0.0123".
int main(int argc, char** argv) {
    const int* size = sizes.small;
    int given[most_numbers] = {0};
    int numbers = 0;
    int times = 1;
    const char* write = NULL;
    const char* write_input = NULL;
    for (int i = 1; i < argc; ++i) {
        if (strcmp(argv[i], "small") == 0) {
            size = sizes.small;
        } else if (strcmp(argv[i], "paper") == 0) {
            size = sizes.paper;
        } else if (strcmp(argv[i], "--times") == 0 && i + 1 < argc) {
            times = whole_number(argv[++i]);
        } else if (strcmp(argv[i], "--write") == 0 && i + 1 < argc) {
            write = argv[++i];
        } else if (strcmp(argv[i], "--write-input") == 0 && i + 1 < argc) {
            write_input = argv[++i];
        } else if (argv[i][0] != '-' && numbers < sizes.numbers) {
            given[numbers++] = whole_number(argv[i]);
        } else {
            fprintf(stderr,
                    "usage: %s [small | paper | %s] [--times N] [--write FILE] [--write-input "
                    "FILE]\n",
                    argv[0], sizes.names);
            return 2;
        }
    }
    if (numbers > 0) {
        if (numbers != sizes.numbers) {
            fprintf(stderr, "%s: give %s\n", argv[0], sizes.names);
            return 2;
        }
        size = given;
    }
    make_input(size);
    if (write_input != NULL) {
        FILE* const file = fopen(write_input, "wb");
        for (int i = 0; i < 8 && input[i] != NULL; ++i)
            write_reals(file, write_input, input[i], inputs[i]);
        if (fclose(file) != 0) return 1;
    }
    for (int i = 0; i < times; ++i) {
        restore();
        const double start = seconds_now();
        run();
        printf("seconds %.9f\n", seconds_now() - start);
    }
    double sum = 0;
    for (size_t i = 0; i < results; ++i) sum += (double)result[i];
    printf("sum %.17g\n", sum);
    if (write != NULL) {
        FILE* const file = fopen(write, "wb");
        write_reals(file, write, result, results);
        if (fclose(file) != 0) return 1;
    }
    return 0;
}
#endif
