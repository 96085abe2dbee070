// SPDX-License-Identifier: MIT
// Memory of the run time: reserved and not taken before it is touched, at places that are known
// when the program is compiled; shadows of the program's memory; and its output, which takes none.
#pragma once

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

using u32 = std::uint32_t;
using u64 = std::uint64_t;

#define HOT __attribute__((always_inline)) inline
// Emitted for the program to be linked with, and then inlined.
#define CALLED __attribute__((always_inline))
#define COLD __attribute__((noinline, cold))
#define LIKELY(x) __builtin_expect(!!(x), 1)

namespace {

COLD void complain(const char* what) {
    for (const char* const part : {"occupipe-match: ", what, "\n"})
        if (write(STDERR_FILENO, part, strlen(part)) < 0) return;
}
[[noreturn]] COLD void give_up(const char* why) {
    complain(why);
    _exit(70);
}

COLD void* reserve(u64 bytes, u64 wanted = 0) {
    const int fixed = wanted != 0 ? MAP_FIXED_NOREPLACE : 0;
    void* const at = mmap(reinterpret_cast<void*>(wanted), bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | fixed, -1, 0);
    if (at == MAP_FAILED || (wanted != 0 && at != reinterpret_cast<void*>(wanted)))
        give_up(
            "no address space left for the record of the program (it is reserved, not used: "
            "neither vm.overcommit_memory = 2 nor a limit of the address space goes with it)");
    return at;
}

// In pages of 2 MiB, where the system has them: what is touched here is touched all over, and half
// of the time would go into page faults.
COLD void* reserve_dense(u64 bytes, u64 wanted = 0) {
    void* const at = reserve(bytes, wanted);
    madvise(at, bytes, MADV_HUGEPAGE);
    return at;
}

// Where large tables lie: far from what a program and its system use.
constexpr u64 place(int number) {
    return 0x2000'0000'0000 + static_cast<u64>(number) * 0x100'0000'0000;
}

// Addresses have 47 bits; a chunk shadows 16 MiB of them, and takes memory where it is touched.
constexpr int chunk_bits = 24;
constexpr u64 chunks = u64{1} << (47 - chunk_bits);

template <class Entry, int number>
struct Shadow {
    static Entry** table() { return reinterpret_cast<Entry**>(place(number)); }

    HOT Entry* at(u64 address, int unit_bits) {
        Entry*& chunk = table()[address >> chunk_bits];
        if (!LIKELY(chunk != nullptr)) grow(chunk, unit_bits);
        return chunk + ((address & ((u64{1} << chunk_bits) - 1)) >> unit_bits);
    }
    static COLD void grow(Entry*& chunk, int unit_bits) {
        chunk = static_cast<Entry*>(reserve_dense(sizeof(Entry) << (chunk_bits - unit_bits)));
    }
    void open() { reserve(chunks * sizeof(Entry*), place(number)); }
};

// Lines of numbers, or bytes, into a file.
struct Output {
    int file;
    u32 used;
    char buffer[1 << 16];

    bool open(const char* path) {
        used = 0;
        return (file = ::open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600)) >= 0;
    }
    void bytes(const void* from, u64 count) {
        const char* at = static_cast<const char*>(from);
        while (count > 0) {
            if (used == sizeof buffer) flush();
            const u64 part = count < sizeof buffer - used ? count : sizeof buffer - used;
            memcpy(buffer + used, at, part);
            used += static_cast<u32>(part);
            at += part;
            count -= part;
        }
    }
    void text(const char* key, const char* value) {
        bytes(key, strlen(key));
        bytes(value, strlen(value));
        bytes("\n", 1);
    }
    // All numbers are u64.
    void line(const char* format, u64 a = 0, u64 b = 0, u64 c = 0) {
        char out[128];
        const int length = snprintf(out, sizeof out, format, a, b, c);
        bytes(out, static_cast<u64>(length));
        bytes("\n", 1);
    }
    void flush() {
        for (u32 at = 0; at < used;) {
            const ssize_t done = ::write(file, buffer + at, used - at);
            if (done <= 0) break;
            at += static_cast<u32>(done);
        }
        used = 0;
    }
    void close() {
        flush();
        ::close(file);
    }
};

}  // namespace
