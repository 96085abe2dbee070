// SPDX-License-Identifier: MIT
// NVIDIA's management library without a GPU: the entry points that bench/cuda/driver/nvml.cpp uses.
// Bus id 0000:01:00.0 is an H200 under load; 0000:02:00.0 tells its temperature alone.
#include <cstring>

// The names are the library's.
// NOLINTBEGIN(readability-identifier-naming)

namespace {
constexpr int ok = 0, uninitialised = 1, invalid = 2, not_supported = 3, not_found = 6;
int users = 0;
int full = 0, sparse = 0;  // their addresses are the handles
}  // namespace

extern "C" {

int fake_nvml_users() { return users; }
int nvmlInit_v2() {
    ++users;
    return ok;
}
int nvmlShutdown() {
    --users;
    return ok;
}
int nvmlDeviceGetHandleByPciBusId_v2(const char* id, void** device) {
    if (users == 0) return uninitialised;
    *device = std::strcmp(id, "0000:01:00.0") == 0   ? &full
              : std::strcmp(id, "0000:02:00.0") == 0 ? &sparse
                                                     : nullptr;
    return *device ? ok : not_found;
}
int nvmlDeviceGetClockInfo(void* device, int type, unsigned* mhz) {
    if (device != &full) return not_supported;
    if (type != 1 && type != 2) return invalid;
    *mhz = type == 1 ? 1980 : 3201;
    return ok;
}
int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatts) {
    *milliwatts = 345678;
    return device == &full ? ok : not_supported;
}
int nvmlDeviceGetTemperature(void* device, int sensor, unsigned* degrees) {
    *degrees = 61;
    return device && sensor == 0 ? ok : invalid;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void* device, unsigned long long* reasons) {
    *reasons = 4;  // the software's power cap
    return device == &full ? ok : not_supported;
}

}  // extern "C"

// NOLINTEND(readability-identifier-naming)
