// SPDX-License-Identifier: MIT
// A library opened at run time, so that this program starts where it is not installed.
#pragma once

#include <string>
#include <vector>

namespace occupipe::bench {

class SharedLibrary {
public:
    SharedLibrary() = default;
    // Opens the first of `names` that the loader accepts; open() is false when none is.
    explicit SharedLibrary(const std::vector<std::string>& names);
    ~SharedLibrary();
    SharedLibrary(SharedLibrary&& other) noexcept;
    SharedLibrary& operator=(SharedLibrary&& other) noexcept;
    SharedLibrary(const SharedLibrary&) = delete;
    SharedLibrary& operator=(const SharedLibrary&) = delete;

    bool open() const { return handle_ != nullptr; }
    const std::string& name() const { return name_; }  // as it was asked for
    std::string path() const;  // of the file that the loader took; empty when none is open
    const std::string& why_not() const { return why_not_; }  // the loader's words for each name

    // nullptr when the library has no such symbol.
    void* find(const char* symbol) const;

    // Fills `function`; false when the library has no such symbol.
    template <typename Function>
    bool load(Function*& function, const char* symbol) const {
        function = reinterpret_cast<Function*>(find(symbol));
        return function != nullptr;
    }

private:
    void* handle_ = nullptr;
    std::string name_;
    std::string why_not_;
};

}  // namespace occupipe::bench
