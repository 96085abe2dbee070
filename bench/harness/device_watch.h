// SPDX-License-Identifier: MIT
// Bounds every wait for a device, whatever the device does.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace occupipe::bench {

class DeviceWatch {
public:
    struct Rules {
        double limit_seconds = 20;                // longest wait for an answer; > 0
        const std::atomic<bool>* stop = nullptr;  // set: the user waits two seconds more, at most
        // The second line, for calls that do not come back by themselves: called from a thread of
        // its own when one has lasted half as long again as it may. `stopped`: because the user
        // does not want to wait any longer. Must end the process. Empty: there is no such thread.
        std::function<void(const std::string& reason, bool stopped)> blocked;
    };

    DeviceWatch() : DeviceWatch(Rules()) {}
    explicit DeviceWatch(Rules rules);
    ~DeviceWatch();
    DeviceWatch(const DeviceWatch&) = delete;
    DeviceWatch& operator=(const DeviceWatch&) = delete;

    // While alive, the device is being waited for in this call. One at a time.
    class Wait {
    public:
        Wait(DeviceWatch& watch, const char* call);
        ~Wait();
        Wait(const Wait&) = delete;
        Wait& operator=(const Wait&) = delete;

        // Throws DeviceLost (hung, abandoned) when this has lasted too long.
        void check() const;
        double seconds() const;

    private:
        DeviceWatch& watch_;
        const char* call_;
        std::chrono::steady_clock::time_point begin_;
    };

private:
    void run();
    bool user_waits_no_longer(double seconds) const;
    std::string reason(const char* call, bool stopped) const;

    Rules rules_;
    // Begin of the wait [ns of the steady clock]; 0: none; -1: the thread is ending the process.
    std::atomic<std::int64_t> since_ = 0;
    std::atomic<const char*> call_ = nullptr;
    std::mutex mutex_;
    std::condition_variable end_;
    bool ending_ = false;
    std::thread thread_;
};

}  // namespace occupipe::bench
