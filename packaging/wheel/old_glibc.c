// SPDX-License-Identifier: MIT
// What GCC's static libstdc++ asks of a C library that is newer than the one a wheel is for: without
// these three, programs that are linked with glibc 2.28 (tools/wheel.sh) would need 2.36.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

#define HIDDEN __attribute__((visibility("hidden")))

// Since 2.32: whether reference counts may be changed without atomics. Never.
HIDDEN char __libc_single_threaded = 0;

// Since 2.36.
HIDDEN uint32_t arc4random(void) {
    uint32_t number;
    while (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number) {
    }
    return number;
}

// Since 2.30. The deadline of another clock as one of CLOCK_REALTIME, which the condition has.
HIDDEN int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                                  const struct timespec* deadline) {
    struct timespec then, now, real;
    if (clock == CLOCK_REALTIME) return pthread_cond_timedwait(condition, mutex, deadline);
    clock_gettime(clock, &now);
    clock_gettime(CLOCK_REALTIME, &real);
    then.tv_sec = real.tv_sec + deadline->tv_sec - now.tv_sec;
    then.tv_nsec = real.tv_nsec + deadline->tv_nsec - now.tv_nsec;
    while (then.tv_nsec >= 1000000000) then.tv_nsec -= 1000000000, ++then.tv_sec;
    while (then.tv_nsec < 0) then.tv_nsec += 1000000000, --then.tv_sec;
    return pthread_cond_timedwait(condition, mutex, &then);
}
