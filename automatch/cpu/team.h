// SPDX-License-Identifier: MIT
// Threads pinned to CPUs that begin together, and know for how much of their time they ran.
//
//   Team team({0, 1});
//   const Run run = team.run([](int thread) { … });
//   run.seconds, run.cpu_share   // 0.0021, 0.998: nothing interrupted any of them
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace occupipe::automatch {

// On this thread.
void pin_to(int cpu);

// All wait until all have come; nobody sleeps.
class SpinBarrier {
public:
    explicit SpinBarrier(int threads) : threads_(threads) {}
    void wait();

private:
    const int threads_;
    alignas(128) std::atomic<int> arrived_{0};
    alignas(128) std::atomic<std::uint32_t> round_{0};
};

struct TeamRun {
    double seconds = 0;    // from the first begin to the last end
    double cpu_share = 0;  // of a thread's own time, the processor's: the least of all threads
};

class Team {
public:
    explicit Team(std::vector<int> cpus);
    ~Team();
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;

    int size() const { return static_cast<int>(cpus_.size()); }
    // Each thread calls it once, with its number from 0 on; waits for all.
    TeamRun run(const std::function<void(int)>& work);

private:
    void serve(int thread);

    struct alignas(128) Times {
        double begin = 0, end = 0, cpu = 0;
    };
    std::vector<int> cpus_;
    std::vector<Times> times_;
    const std::function<void(int)>* work_ = nullptr;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::uint64_t round_ = 0;
    int done_ = 0;
    bool stop_ = false;
    std::atomic<int> ready_{0};
    std::vector<std::thread> threads_;
};

}  // namespace occupipe::automatch
