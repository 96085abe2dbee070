// SPDX-License-Identifier: MIT
// Long work beside Python: without the interpreter lock, and ended by Ctrl-C.
//   const Result r = without_lock([&](const std::atomic<bool>& stop) { return work(stop); });
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <chrono>
#include <future>

#include "sim/engine/run_progress.h"

namespace occupipe::python {

// Runs work(stop) on a thread of its own, which must not touch Python, and looks for signals
// meanwhile. After one whose handler raises (KeyboardInterrupt) `stop` is true, and that is raised
// once the work has ended. What the work throws is thrown.
template <class Work>
auto without_lock(const Work& work) {
    using namespace std::chrono_literals;
    std::atomic<bool> stop = false;
    auto result = std::async(std::launch::async, [&] { return work(stop); });
    for (;;) {
        std::future_status status{};
        {
            const nanobind::gil_scoped_release free;
            status = result.wait_for(20ms);
        }
        if (status == std::future_status::ready) return result.get();
        if (PyErr_CheckSignals() != 0) {
            stop = true;
            nanobind::python_error raised;  // takes what the handler raised
            {
                const nanobind::gil_scoped_release free;
                result.wait();
            }
            throw raised;
        }
    }
}

// For simulations.
inline Checkpoint stopped_by(const std::atomic<bool>& stop) {
    return [&stop](const RunProgress& progress) {
        if (stop) throw Interrupted("interrupted: " + to_text(progress));
    };
}

}  // namespace occupipe::python
