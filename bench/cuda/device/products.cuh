// SPDX-License-Identifier: MIT
// Multiplicands have registers of their own and elements that differ: `keep` are the bits of an
// element that are arbitrary, `set` those that are always there, which make it a number of middling
// size. (The mixing of bits: Wellons, "Prospecting for hash functions", 2018.)

__device__ __forceinline__ uint arbitrary(uint n)
{
    n ^= n >> 16;
    n *= 0x7feb352du;
    n ^= n >> 15;
    n *= 0x846ca68bu;
    return n ^ n >> 16;
}
template <typename Element, int count, int lefts, int rights, uint keep, uint set>
struct Product : Fragment<Element, count> {
    uint left[lefts], right[rights];
    __device__ __forceinline__ Product(uint bits) : Fragment<Element, count>(bits)
    {
        _Pragma("unroll") for (int i = 0; i < lefts; ++i) left[i] = (arbitrary(bits + LANE * 64 + i) & keep) | set;
        _Pragma("unroll") for (int i = 0; i < rights; ++i) right[i] = (arbitrary(bits + LANE * 64 + 32 + i) & keep) | set;
    }
};
template <int count, int lefts, int rights> struct ProductF64 : Fragment<double, count> {
    double left[lefts], right[rights];
    __device__ __forceinline__ ProductF64(uint bits) : Fragment<double, count>(bits)
    {
        _Pragma("unroll") for (int i = 0; i < lefts; ++i) left[i] = (int)(arbitrary(bits + LANE * 64 + i) & 1023) / 1024.0 - 0.5;
        _Pragma("unroll") for (int i = 0; i < rights; ++i) right[i] = (int)(arbitrary(bits + LANE * 64 + 32 + i) & 1023) / 1024.0 - 0.5;
    }
};
