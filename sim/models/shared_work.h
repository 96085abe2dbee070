// SPDX-License-Identifier: MIT
// What several models derive from the same profile and kernel, derived once:
//
//   SharedWork shared;
//   ModelOptions options;
//   options.shared = &shared;  // one profile, one kernel, equal options; any launch
//   for (const Model& model : models()) model.predict(problem, options);
#pragma once

#include <cstddef>
#include <map>
#include <mutex>

#include "sim/models/work_flow.h"

namespace occupipe {

// Predictions are the same with and without it. Several threads may use one: who comes second
// waits for the first.
class SharedWork {
public:
    // The work flow of a program (an index into Kernel::warps), from `make` if nobody asked yet.
    template <class Make>
    WorkFlow flow(std::size_t program, const Make& make) {
        return flows_.get(program, make);
    }

    // The cycles of one warp of a program alone.
    template <class Make>
    double alone(std::size_t program, const Make& make) {
        return alone_.get(program, make);
    }

private:
    template <class Value>
    struct Table {
        template <class Make>
        Value get(std::size_t key, const Make& make) {
            const std::scoped_lock lock(mutex);
            const auto known = values.find(key);
            // A `make` that throws leaves nothing behind.
            return known != values.end() ? known->second
                                         : values.emplace(key, make()).first->second;
        }

        std::mutex mutex;
        std::map<std::size_t, Value> values;
    };

    Table<WorkFlow> flows_;
    Table<double> alone_;
};

}  // namespace occupipe
