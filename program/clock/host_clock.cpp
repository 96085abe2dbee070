// SPDX-License-Identifier: MIT
// libhost_clock.so (program/host_clock.h): the C library's clocks of the wall, shifted. Clocks of
// processor time are as ever.
#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace {

constexpr std::int64_t second = 1'000'000'000;
constexpr clockid_t clocks = 16;  // those of the system have lower numbers

// A writer makes `turn` odd while it changes the others; a reader tries again.
std::atomic<std::uint64_t> turn = 0;
std::atomic<bool> has_stood = false;  // before, all clocks are the real ones
std::atomic<bool> stands = false;
std::atomic<std::int64_t> lag = 0;       // ns that CLOCK_MONOTONIC is behind, while it goes
std::atomic<std::int64_t> stood_at = 0;  // real ns, where it stands
// By which others are ahead of it, ns.
std::array<std::atomic<std::int64_t>, clocks> ahead;

std::int64_t to_ns(const timespec& time) { return time.tv_sec * second + time.tv_nsec; }

std::int64_t real_ns(clockid_t id = CLOCK_MONOTONIC) {
    timespec now{};
    syscall(SYS_clock_gettime, id, &now);
    return to_ns(now);
}

// Processor time goes on as ever.
bool is_of_the_wall(clockid_t id) {
    return id >= 0 && id < clocks && id != CLOCK_PROCESS_CPUTIME_ID &&
           id != CLOCK_THREAD_CPUTIME_ID;
}

// A handler of a signal that reads a clock would wait for the writer that it interrupts.
class NoSignals {
public:
    NoSignals() {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    NoSignals(const NoSignals&) = delete;
    NoSignals& operator=(const NoSignals&) = delete;

private:
    sigset_t before_;
};

}  // namespace

extern "C" {

std::int64_t occupipe_clock_stop() {
    const NoSignals none;
    ++turn;
    if (!has_stood) {
        for (clockid_t id = 0; id < clocks; ++id) {
            const std::int64_t before = real_ns();
            ahead[static_cast<std::size_t>(id)] = real_ns(id) - before;
        }
        has_stood = true;
    }
    stood_at = real_ns();
    stands = true;
    ++turn;
    return stood_at - lag;
}

void occupipe_clock_go_on(std::int64_t later) {
    const NoSignals none;
    ++turn;
    lag = lag + real_ns() - stood_at - later;
    stands = false;
    ++turn;
}

int clock_gettime(clockid_t id, timespec* time) noexcept {
    const auto failed = static_cast<int>(syscall(SYS_clock_gettime, id, time));
    if (failed != 0 || !is_of_the_wall(id)) return failed;
    for (;;) {
        const std::uint64_t before = turn;
        const bool is_real = !has_stood;
        const std::int64_t monotonic = (stands ? stood_at.load() : real_ns()) - lag;
        if (before % 2 != 0 || turn != before) continue;
        if (is_real) return 0;
        const std::int64_t shown = monotonic + ahead[static_cast<std::size_t>(id)];
        *time = {.tv_sec = shown / second, .tv_nsec = shown % second};
        return 0;
    }
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
