// SPDX-License-Identifier: MIT
// What is read is needed: the assembler behind PTX removes loads that nothing needs, whatever
// `volatile` says.

extern "C" __global__ void occupipe_table_reader(const uint* table, ulong sectors, int each_core, uint* result)
{
    const ulong threads = each_core ? blockDim.x : WARPS * WARP_SIZE;
    // Cores begin at different places, so that they do not all ask the same part of the cache.
    const ulong offset = each_core ? sectors / gridDim.x * blockIdx.x : 0;
    uint sum = 0;
    for (ulong i = each_core ? threadIdx.x : THREAD; i < sectors; i += threads) {
        const ulong sector = i + offset < sectors ? i + offset : i + offset - sectors;
        uint value;
        asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(value) : "l"(table + sector * 8));
        sum = sum * 3 + value;
    }
    if (sum == 0x5eed5eedu) *result = sum;
}
