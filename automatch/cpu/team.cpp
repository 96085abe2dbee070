// SPDX-License-Identifier: MIT
#include "automatch/cpu/team.h"

#include <pthread.h>
#include <sched.h>
#include <time.h>

#include <algorithm>
#include <utility>

namespace occupipe::automatch {
namespace {

double now(clockid_t clock) {
    timespec t{};
    clock_gettime(clock, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

void relax() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

}  // namespace

void pin_to(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    pthread_setaffinity_np(pthread_self(), sizeof set, &set);  // refused: the scheduler chooses
}

void SpinBarrier::wait() {
    const std::uint32_t round = round_.load(std::memory_order_relaxed);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads_) {
        arrived_.store(0, std::memory_order_relaxed);
        round_.store(round + 1, std::memory_order_release);
        return;
    }
    // On a busy machine the thread that is waited for may need this processor.
    constexpr int patience = 20000;
    for (int spins = 0; round_.load(std::memory_order_acquire) == round; ++spins)
        spins < patience ? relax() : static_cast<void>(sched_yield());
}

Team::Team(std::vector<int> cpus) : cpus_(std::move(cpus)), times_(cpus_.size()) {
    for (int i = 0; i < size(); ++i) threads_.emplace_back([this, i] { serve(i); });
}

Team::~Team() {
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    changed_.notify_all();
    for (std::thread& one : threads_) one.join();
}

TeamRun Team::run(const std::function<void(int)>& work) {
    std::unique_lock lock(mutex_);
    work_ = &work;
    done_ = 0;
    ready_ = 0;
    ++round_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return done_ == size(); });
    TeamRun run{.seconds = 0, .cpu_share = 1};
    double begin = times_.front().begin, end = times_.front().end;
    for (const Times& one : times_) {
        begin = std::min(begin, one.begin);
        end = std::max(end, one.end);
        if (one.end > one.begin)
            run.cpu_share = std::min(run.cpu_share, one.cpu / (one.end - one.begin));
    }
    run.seconds = end - begin;
    return run;
}

void Team::serve(int thread) {
    pin_to(cpus_[static_cast<std::size_t>(thread)]);
    Times& times = times_[static_cast<std::size_t>(thread)];
    std::uint64_t seen = 0;
    for (;;) {
        const std::function<void(int)>* work = nullptr;
        {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [&] { return stop_ || round_ != seen; });
            if (stop_) return;
            seen = round_;
            work = work_;
        }
        ready_.fetch_add(1);
        for (int spins = 0; ready_.load() < size(); ++spins)
            if (spins > 1000) sched_yield();
        const double cpu = now(CLOCK_THREAD_CPUTIME_ID);
        times.begin = now(CLOCK_MONOTONIC);
        (*work)(thread);
        times.end = now(CLOCK_MONOTONIC);
        times.cpu = now(CLOCK_THREAD_CPUTIME_ID) - cpu;
        {
            const std::lock_guard lock(mutex_);
            if (++done_ == size()) changed_.notify_all();
        }
    }
}

}  // namespace occupipe::automatch
