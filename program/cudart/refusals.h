// SPDX-License-Identifier: MIT
// What is exported and not defined by any source file: refused by name. Included once, by the file
// that program/CMakeLists.txt makes of exports_13.txt.
#pragma once

extern "C" int occupipe_refuse_call(const char* name);

// A definition elsewhere takes its place. Arguments are the caller's to remove.
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
#define SAME_AS(form, name)                                           \
    asm(".text\n.globl " #form "\n.type " #form ", %function\n" #form \
        ":\n    " OCCUPIPE_JUMP #name OCCUPIPE_TO "\n.size " #form ", .-" #form "\n");
