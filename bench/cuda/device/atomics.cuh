// SPDX-License-Identifier: MIT

#define ATOM(text, address_kind, x, address) asm volatile(text : "+r"(x) : address_kind(address) : "memory")
#define OWN_SHARED (SHARED_ADDRESS + (threadIdx.x & 1023) * 4)
#define OWN_GLOBAL (out + THREAD)
#define GROUP_GLOBAL(zero) (out + blockIdx.x * blockDim.x + LANE * (zero))
#define SECTOR_GLOBAL (out + (THREAD & ~31u) + (THREAD & 7))
#define ATOM_SHARED_OWN(text, x) ATOM(text, "r", x, OWN_SHARED)
// The assembler must not know that the lanes' addresses are equal: it would add up their operands
// first. `zero` comes from memory.
#define ATOM_SHARED_SAME(text, x, zero) ATOM(text, "r", x, SHARED_ADDRESS + LANE * (zero))
#define ATOM_GLOBAL_OWN(text, x) ATOM(text, "l", x, OWN_GLOBAL)
#define ATOM_GLOBAL_SAME(text, x, zero) ATOM(text, "l", x, GROUP_GLOBAL(zero))
#define ATOM_GLOBAL_SECTOR(text, x) ATOM(text, "l", x, SECTOR_GLOBAL)
#define RED_SHARED_OWN(text, x) asm volatile(text :: "r"(OWN_SHARED), "r"(x) : "memory")
#define RED_GLOBAL_OWN(text, x) asm volatile(text :: "l"(OWN_GLOBAL), "r"(x) : "memory")
// Eight places in turn, which keep the alignment and the banks' conflicts.
#define ST_SHARED(text, x, word, step) asm volatile(text :: "r"(SHARED_ADDRESS + (word) * 4), "n"(((step) & 7) * 16), "r"(x) : "memory")
