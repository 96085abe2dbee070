// SPDX-License-Identifier: MIT
// What is exported and not defined by any source file: refused by name. Included once for each
// version of the runtime, by the file that program/CMakeLists.txt makes of exports.txt. A
// definition elsewhere takes the place of any of these.
#pragma once

extern "C" int occupipe_refuse_call(const char* name);

// Arguments are the caller's to remove.
#define REFUSED(name) \
    extern "C" __attribute__((weak)) int name() { return occupipe_refuse_call(#name); }

// Jumps, whatever the arguments are.
#if defined(__x86_64__)
#define OCCUPIPE_JUMP "jmp "
#define OCCUPIPE_TO "@PLT"
#elif defined(__aarch64__)
#define OCCUPIPE_JUMP "b "
#define OCCUPIPE_TO ""
#else
#error "no jump is known for this processor"
#endif
#define SAME_AS(form, name)                                          \
    asm(".text\n.weak " #form "\n.type " #form ", %function\n" #form \
        ":\n    " OCCUPIPE_JUMP #name OCCUPIPE_TO "\n.size " #form ", .-" #form "\n");

// From here on `occupipe_13_NAME` is what libcudart.so.13 has under that name.
#define OF_13(name) asm(".symver occupipe_13_" #name ", " #name "@libcudart.so.13\n");
