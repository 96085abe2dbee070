// SPDX-License-Identifier: MIT
#pragma once

#include <stdexcept>
#include <string>

namespace occupipe {

// A position in a file; 0 = unknown. Lines and columns count from 1.
struct SourcePosition {
    int line = 0;
    int column = 0;

    bool operator==(const SourcePosition&) const = default;
};

// Bad input: a file, a value or a command line that cannot be used (exit code 2).
// what() is one line: "FILE:LINE:COLUMN: KEY: REASON" with the parts that are known.
class InputError : public std::runtime_error {
public:
    explicit InputError(const std::string& reason) : std::runtime_error(reason) {}
    InputError(const std::string& file, SourcePosition where, const std::string& key,
               const std::string& reason);

    // The parts by themselves, for programs that read errors; empty or 0: not known.
    const std::string& file() const { return file_; }
    SourcePosition where() const { return where_; }
    const std::string& key() const { return key_; }

private:
    std::string file_;
    SourcePosition where_;
    std::string key_;
};

// No device, driver or platform to run on (exit code 3).
class NothingToRunOn : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

// A call to a device's programming interface failed (exit code 1). what() names the
// interface, the call and the error's own name.
class DeviceError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

}  // namespace occupipe
