// SPDX-License-Identifier: MIT
// The stencil of stencil.c, its planes really split over several devices of one machine, after
// MiniGhost (Helal et al. 2017, section IV-C). A device has memory, threads and a kernel of its
// own; after each step neighbours exchange the planes where their parts meet.
//
//   gcc -O3 -ffp-contract=off -pthread minighost.c -o minighost
//   ./minighost 128 128 128 100 --device 0 --device 1/1 --planes 95,31
//
// A device is CPUS or CPUS/1: threads pinned to these CPUs (0,1 are two threads), computing with
// the widest vectors, or (/1) one number at a time. --planes: of each device, in all those inside
// of the rim, NZ - 2. The result is that of stencil.c, bit for bit.
#define _GNU_SOURCE
#define OCCUPIPE_OWN_MAIN
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "workload.h"

enum { most_devices = 8, most_threads = 64 };

struct Device {
    int cpus[most_threads], threads, scalar;
    int first, planes;  // of the grid's planes, those that it computes
    real *a, *b;        // planes first - 1 to first + planes
    double busy, cpu;   // seconds, of its slowest thread: in the kernel, and on a processor there
};

static struct Device devices[most_devices];
static int device_count, thread_count;
static int nx, ny, nz, steps;

static atomic_int arrived, rounds;

static void meet(void) {
    const int round = atomic_load(&rounds);
    if (atomic_fetch_add(&arrived, 1) + 1 == thread_count) {
        atomic_store(&arrived, 0);
        atomic_fetch_add(&rounds, 1);
        return;
    }
    for (int spins = 0; atomic_load(&rounds) == round; ++spins)
        if (spins > 20000) sched_yield();  // the one that is waited for may need this processor
}

// Planes from `begin` to before `end`, counted from a's first.
#define STENCIL(name)                                                                          \
    static void name(int begin, int end, const real* a, real* b) {                             \
        const size_t row = (size_t)nx, plane = row * (size_t)ny;                               \
        const real centre = (real)0.5, neighbour = (real)(0.5 / 6);                            \
        for (int z = begin; z < end; ++z)                                                      \
            for (int y = 1; y < ny - 1; ++y) {                                                 \
                const real* const in = a + (size_t)z * plane + (size_t)y * row;                \
                real* const out = b + (size_t)z * plane + (size_t)y * row;                     \
                for (int x = 1; x < nx - 1; ++x)                                               \
                    out[x] =                                                                   \
                        neighbour * (((in[x - 1] + in[x + 1]) + (in[x - row] + in[x + row])) + \
                                     (in[x - plane] + in[x + plane])) +                        \
                        centre * in[x];                                                        \
            }                                                                                  \
    }

#if defined(__GNUC__) && !defined(__clang__)
#if defined(__x86_64__)
__attribute__((target_clones("arch=skylake-avx512", "avx2", "default"), optimize("O3")))
#endif
STENCIL(with_vectors) __attribute__((optimize("no-tree-vectorize", "no-tree-slp-vectorize")))
STENCIL(one_by_one)
#else
STENCIL(with_vectors)
static void one_by_one(int begin, int end, const real* a, real* b) {
    const size_t row = (size_t)nx, plane = row * (size_t)ny;
    const real centre = (real)0.5, neighbour = (real)(0.5 / 6);
    for (int z = begin; z < end; ++z)
        for (int y = 1; y < ny - 1; ++y) {
            const real* const in = a + (size_t)z * plane + (size_t)y * row;
            real* const out = b + (size_t)z * plane + (size_t)y * row;
#pragma clang loop vectorize(disable) interleave(disable)
            for (int x = 1; x < nx - 1; ++x)
                out[x] = neighbour * (((in[x - 1] + in[x + 1]) + (in[x - row] + in[x + row])) +
                                      (in[x - plane] + in[x + plane])) +
                         centre * in[x];
        }
}
#endif

    static double clock_seconds(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

struct Thread {
    int device, index;  // of its device's threads
    double busy, cpu, total;
    double* step_cpu;  // of each step: kernel and exchange, on a processor
    pthread_t handle;
};
static struct Thread threads[most_devices * most_threads];
static const real* start;

static void* work(void* pointer) {
    struct Thread* const own = pointer;
    struct Device* const device = &devices[own->device];
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(device->cpus[own->index], &set);
    pthread_setaffinity_np(pthread_self(), sizeof set, &set);  // refused: the scheduler chooses
    const size_t plane = (size_t)nx * (size_t)ny, bytes = plane * sizeof(real);
    const int begin = 1 + (int)((long)device->planes * own->index / device->threads);
    const int end = 1 + (int)((long)device->planes * (own->index + 1) / device->threads);
    // Memory is where it is first written.
    const int from = own->index == 0 ? 0 : begin;
    const int to = own->index == device->threads - 1 ? device->planes + 2 : end;
    for (int z = from; z < to; ++z) {
        const real* const source = start + (size_t)(device->first - 1 + z) * plane;
        memcpy(device->a + (size_t)z * plane, source, bytes);
        memcpy(device->b + (size_t)z * plane, source, bytes);
    }
    real *a = device->a, *b = device->b;
    meet();
    const double began = seconds_now();
    for (int step = 0; step < steps; ++step) {
        const double wall = seconds_now(), cpu = clock_seconds(CLOCK_THREAD_CPUTIME_ID);
        (device->scalar ? one_by_one : with_vectors)(begin, end, a, b);
        own->step_cpu[step] = clock_seconds(CLOCK_THREAD_CPUTIME_ID) - cpu;
        own->cpu += own->step_cpu[step];
        own->busy += seconds_now() - wall;
        meet();
        // Its first thread fetches what the neighbours computed beside its own part.
        if (own->index == 0) {
            const double begin_exchange = clock_seconds(CLOCK_THREAD_CPUTIME_ID);
            const int last = step % 2 == 0;  // results of even steps are in everybody's b
            if (own->device > 0) {
                const struct Device* const below = device - 1;
                memcpy(b, (last ? below->b : below->a) + (size_t)below->planes * plane, bytes);
            }
            if (own->device + 1 < device_count) {
                const struct Device* const above = device + 1;
                memcpy(b + (size_t)(device->planes + 1) * plane,
                       (last ? above->b : above->a) + plane, bytes);
            }
            own->step_cpu[step] += clock_seconds(CLOCK_THREAD_CPUTIME_ID) - begin_exchange;
        }
        meet();
        real* const swap = a;
        a = b;
        b = swap;
    }
    own->total = seconds_now() - began;
    return NULL;
}

static void add_device(const char* text) {
    struct Device* const device = &devices[device_count++];
    for (const char* at = text;;) {
        char* end = NULL;
        const long cpu = strtol(at, &end, 10);
        if (end == at || cpu < 0 || cpu >= CPU_SETSIZE || device->threads == most_threads) break;
        device->cpus[device->threads++] = (int)cpu;
        if (*end == 0) return;
        if (strcmp(end, "/1") == 0) {
            device->scalar = 1;
            return;
        }
        if (*end != ',') break;
        at = end + 1;
    }
    fprintf(stderr, "--device %s: is not CPUS or CPUS/1, such as 0,1 or 1/1\n", text);
    exit(2);
}

static void set_planes(const char* text) {
    int first = 1;
    for (int i = 0; i < device_count; ++i) {
        char* end = NULL;
        const long planes = strtol(text, &end, 10);
        if (end == text || planes < 1 || *end != (i + 1 < device_count ? ',' : 0)) first = nz;
        devices[i].first = first;
        devices[i].planes = (int)planes;
        first += (int)planes;
        if (first >= nz) break;
        text = end + 1;
    }
    if (first == nz - 1) return;
    fprintf(stderr, "--planes: give one number of at least 1 for each of %d devices, %d in all\n",
            device_count, nz - 2);
    exit(2);
}

int main(int argc, char** argv) {
    int numbers[4], given = 0;
    const char *planes = NULL, *write = NULL;
    for (int i = 1; i < argc; ++i) {
        if (strcmp(argv[i], "--device") == 0 && i + 1 < argc && device_count < most_devices) {
            add_device(argv[++i]);
        } else if (strcmp(argv[i], "--planes") == 0 && i + 1 < argc) {
            planes = argv[++i];
        } else if (strcmp(argv[i], "--write") == 0 && i + 1 < argc) {
            write = argv[++i];
        } else if (argv[i][0] != '-' && given < 4) {
            numbers[given++] = whole_number(argv[i]);
        } else {
            given = 0;
            break;
        }
    }
    if (given != 4 || device_count == 0 || planes == NULL || numbers[0] < 3 || numbers[1] < 3 ||
        numbers[2] < 3) {
        fprintf(stderr,
                "usage: %s NX NY NZ STEPS --device CPUS[/1]... --planes N,... [--write FILE]\n",
                argv[0]);
        return 2;
    }
    nx = numbers[0], ny = numbers[1], nz = numbers[2], steps = numbers[3];
    set_planes(planes);
    const size_t plane = (size_t)nx * (size_t)ny, points = plane * (size_t)nz;
    real* const grid = reals(points);
    for (size_t i = 0; i < points; ++i) grid[i] = uniform(0, 1);
    start = grid;
    for (int d = 0; d < device_count; ++d) {
        devices[d].a = reals(plane * (size_t)(devices[d].planes + 2));
        devices[d].b = reals(plane * (size_t)(devices[d].planes + 2));
        for (int i = 0; i < devices[d].threads; ++i) {
            threads[thread_count].device = d;
            threads[thread_count].step_cpu = (double*)room((size_t)steps, sizeof(double));
            threads[thread_count++].index = i;
        }
    }
    const int all = thread_count;
    for (int i = 0; i < all; ++i)
        if (pthread_create(&threads[i].handle, NULL, work, &threads[i]) != 0) return 1;
    double total = 0;
    for (int i = 0; i < all; ++i) {
        const struct Thread* const one = &threads[i];
        pthread_join(one->handle, NULL);
        struct Device* const device = &devices[one->device];
        if (one->busy > device->busy) device->busy = one->busy;
        if (one->cpu > device->cpu) device->cpu = one->cpu;
        if (one->total > total) total = one->total;
    }
    for (int d = 0; d < device_count; ++d) {
        const struct Device* const device = &devices[d];
        const real* const last = steps % 2 == 0 ? device->a : device->b;
        memcpy(grid + (size_t)device->first * plane, last + plane,
               plane * (size_t)device->planes * sizeof(real));
        printf("device %d planes %d busy %.9f cpu %.9f\n", d, device->planes, device->busy,
               device->cpu);
    }
    // What the steps would take if each thread had its processor to itself: the slowest thread of
    // each step. On a quiet machine about the same as the time that passed.
    double path = 0;
    for (int step = 0; step < steps; ++step) {
        double slowest = 0;
        for (int i = 0; i < all; ++i)
            if (threads[i].step_cpu[step] > slowest) slowest = threads[i].step_cpu[step];
        path += slowest;
    }
    printf("seconds %.9f\npath %.9f\n", total, path);
    if (write != NULL) {
        FILE* const file = fopen(write, "wb");
        write_reals(file, write, grid, points);
        if (fclose(file) != 0) return 1;
    }
    return 0;
}
