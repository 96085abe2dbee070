// SPDX-License-Identifier: MIT
#include "core/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace occupipe {

void parallel_for(std::size_t count, const std::function<void(std::size_t)>& body,
                  unsigned threads) {
    if (threads == 0) threads = std::max(1U, std::thread::hardware_concurrency());
    std::atomic<std::size_t> next{0};
    std::mutex mutex;
    std::size_t failed_at = count;
    std::exception_ptr failure;
    const auto work = [&] {
        for (std::size_t i = next++; i < count; i = next++) {
            try {
                body(i);
            } catch (...) {
                const std::lock_guard lock(mutex);
                if (i < failed_at) {
                    failed_at = i;
                    failure = std::current_exception();
                }
            }
        }
    };
    std::vector<std::jthread> workers;
    for (unsigned t = 1; t < std::min<std::size_t>(threads, count); ++t) workers.emplace_back(work);
    work();
    workers.clear();
    if (failure) std::rethrow_exception(failure);
}

}  // namespace occupipe
