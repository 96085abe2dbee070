// SPDX-License-Identifier: MIT
// Steers the driver that only pretends (fake_libcuda.cpp) from the test that uses it.
#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <string>

namespace occupipe::bench::testing {

inline const std::string fake_driver = OCCUPIPE_FAKE_LIBCUDA;

class FakeDriver {
public:
    FakeDriver() : handle_(dlopen(fake_driver.c_str(), RTLD_NOW)) {}
    ~FakeDriver() { dlclose(handle_); }
    FakeDriver(const FakeDriver&) = delete;
    FakeDriver& operator=(const FakeDriver&) = delete;

    void fault(const char* name) { call<void(const char*)>("fake_fault")(name); }
    // What a new process finds: no memory, no module, no fault of the old one.
    void new_process() { call<void()>("fake_new_process")(); }
    int live() { return call<int()>("fake_live")(); }
    // Groups of so many warps with the last launch's shared memory that one core holds.
    int resident(int group_warps) { return call<int(int)>("fake_resident")(group_warps); }
    bool hanging() { return call<int()>("fake_hanging")() != 0; }
    int kernels() { return call<int()>("fake_kernels")(); }
    int captured() { return call<int(int)>("fake_graph")(0); }
    int graph_launches() { return call<int(int)>("fake_graph")(1); }
    int copies_to_device() { return call<int()>("fake_copies_to_device")(); }
    std::uint64_t last_read(int field) { return call<std::uint64_t(int)>("fake_last_read")(field); }
    std::uint64_t last_launch(int field) {
        return call<std::uint64_t(int)>("fake_last_launch")(field);
    }

private:
    template <typename Function>
    Function* call(const char* symbol) {
        return reinterpret_cast<Function*>(dlsym(handle_, symbol));
    }
    void* handle_;
};

}  // namespace occupipe::bench::testing
