// SPDX-License-Identifier: MIT
// What a failed call means for the calls behind it.
#pragma once

#include <string>

#include "core/error.h"

namespace occupipe::bench {

// Chance, not the kernel or the shape: the same launch may well succeed at once.
class TransientDeviceError : public DeviceError {
public:
    using DeviceError::DeviceError;
};

// This process can do nothing more with the device; a new one can, perhaps. No call to the device
// may follow, not even to give its memory back: it could wait for ever.
class DeviceLost : public DeviceError {
public:
    enum class Cause {
        fault,      // an error that the device's programming interface repeats from now on
        hung,       // no answer within the limit
        abandoned,  // no answer yet, and the user does not want to wait any longer
    };
    DeviceLost(Cause why, const std::string& what) : DeviceError(what), cause(why) {}
    Cause cause;
};

}  // namespace occupipe::bench
