// SPDX-License-Identifier: MIT
#include "bench/cuda/driver/shared_library.h"

#include <dlfcn.h>
#include <link.h>

#include <utility>

namespace occupipe::bench {

SharedLibrary::SharedLibrary(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
        handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (handle_) {
            name_ = name;
            why_not_.clear();
            return;
        }
        const char* why = dlerror();
        why_not_ += (why_not_.empty() ? "" : "; ") + (why ? std::string(why) : name);
    }
}

SharedLibrary::~SharedLibrary() {
    if (handle_) dlclose(handle_);
}

SharedLibrary::SharedLibrary(SharedLibrary&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)),
      name_(std::move(other.name_)),
      why_not_(std::move(other.why_not_)) {}

SharedLibrary& SharedLibrary::operator=(SharedLibrary&& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(name_, other.name_);
    std::swap(why_not_, other.why_not_);
    return *this;
}

std::string SharedLibrary::path() const {
    link_map* map = nullptr;
    if (!handle_ || dlinfo(handle_, RTLD_DI_LINKMAP, &map) != 0 || !map) return {};
    return map->l_name;
}

void* SharedLibrary::find(const char* symbol) const {
    return handle_ ? dlsym(handle_, symbol) : nullptr;
}

}  // namespace occupipe::bench
