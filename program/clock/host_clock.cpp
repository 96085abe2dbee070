// SPDX-License-Identifier: MIT
// libhost_clock.so (program/host_clock.h): the C library's clocks of the wall, shifted. Clocks of
// processor time are as ever.
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

namespace {

constexpr std::int64_t second = 1'000'000'000;

// A writer makes `turn` odd while it changes the others; a reader tries again.
std::atomic<std::uint64_t> turn = 0;
std::atomic<std::int64_t> lag = 0;  // ns that the clock is behind the real one, while it goes
std::atomic<bool> stands = false;
std::atomic<std::int64_t> stood_at = 0;  // real ns, where it stands

std::int64_t to_ns(const timespec& time) { return time.tv_sec * second + time.tv_nsec; }

std::int64_t real_ns() {
    timespec now{};
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    return to_ns(now);
}

// By how much any clock is behind.
std::int64_t lag_now() {
    for (;;) {
        const std::uint64_t before = turn.load();
        const std::int64_t going = lag.load(), from = stood_at.load();
        const bool still = stands.load();
        if (before % 2 == 0 && turn.load() == before)
            return still ? going + real_ns() - from : going;
    }
}

// Of processes and threads: how long they were at work.
bool is_of_the_wall(clockid_t id) {
    return id >= 0 && id != CLOCK_PROCESS_CPUTIME_ID && id != CLOCK_THREAD_CPUTIME_ID;
}

}  // namespace

extern "C" {

std::int64_t occupipe_clock_stop() {
    ++turn;
    stood_at = real_ns();
    stands = true;
    ++turn;
    return stood_at - lag;
}

void occupipe_clock_go_on(std::int64_t later) {
    ++turn;
    lag = lag + real_ns() - stood_at - later;
    stands = false;
    ++turn;
}

int clock_gettime(clockid_t id, timespec* time) noexcept {
    const auto failed = static_cast<int>(syscall(SYS_clock_gettime, id, time));
    if (failed != 0 || !is_of_the_wall(id)) return failed;
    const std::int64_t shown = to_ns(*time) - lag_now();
    *time = {.tv_sec = shown / second, .tv_nsec = shown % second};
    return 0;
}

int gettimeofday(timeval* time, void* zone) noexcept {
    if (zone != nullptr) syscall(SYS_gettimeofday, nullptr, zone);
    timespec now{};
    const int failed = clock_gettime(CLOCK_REALTIME, &now);
    if (failed == 0) *time = {.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
    return failed;
}

time_t time(time_t* out) noexcept {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    if (out != nullptr) *out = now.tv_sec;
    return now.tv_sec;
}

int timespec_get(timespec* time, int base) noexcept {
    if (base != TIME_UTC) return 0;
    return clock_gettime(CLOCK_REALTIME, time) == 0 ? base : 0;
}

}  // extern "C"
