// SPDX-License-Identifier: MIT
// Accumulator fragments: a thread's share of a matrix. Made from one operand's bits, and added up
// into one word for the result, so that no element is dead.

template <typename Element, int count> struct Fragment {
    Element element[count];
    __device__ __forceinline__ Fragment(uint bits)
    {
        _Pragma("unroll") for (int i = 0; i < count; ++i) element[i] = (Element)((bits >> i) & 1);
    }
    __device__ __forceinline__ operator uint() const
    {
        Element sum = element[0];
        _Pragma("unroll") for (int i = 1; i < count; ++i) sum = sum + element[i];
        return (uint)(int)sum;
    }
};
typedef Fragment<float, 4> FragmentF32;
typedef Fragment<uint, 2> FragmentF16;
typedef Fragment<int, 4> FragmentS32;
typedef Fragment<int, 2> FragmentS32Pair;
struct FragmentF64 : Fragment<double, 2> {
    double left, right;
    __device__ __forceinline__ FragmentF64(uint bits)
        : Fragment<double, 2>(bits), left(0.5 + (bits & 1)), right(0.25 + (bits & 2)) {}
};
#define MMA_F32_42(ptx, x, a, b) asm volatile(ptx " {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%5,%5}, {%0,%1,%2,%3};" : "+f"((x).element[0]), "+f"((x).element[1]), "+f"((x).element[2]), "+f"((x).element[3]) : "r"(a), "r"(b))
#define MMA_F32_21(ptx, x, a, b) asm volatile(ptx " {%0,%1,%2,%3}, {%4,%4}, {%5}, {%0,%1,%2,%3};" : "+f"((x).element[0]), "+f"((x).element[1]), "+f"((x).element[2]), "+f"((x).element[3]) : "r"(a), "r"(b))
#define MMA_F16_42(ptx, x, a, b) asm volatile(ptx " {%0,%1}, {%2,%2,%2,%2}, {%3,%3}, {%0,%1};" : "+r"((x).element[0]), "+r"((x).element[1]) : "r"(a), "r"(b))
#define MMA_S32_42(ptx, x, a, b) asm volatile(ptx " {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%5,%5}, {%0,%1,%2,%3};" : "+r"((x).element[0]), "+r"((x).element[1]), "+r"((x).element[2]), "+r"((x).element[3]) : "r"(a), "r"(b))
#define MMA_S32_11(ptx, x, a, b) asm volatile(ptx " {%0,%1}, {%2}, {%3}, {%0,%1};" : "+r"((x).element[0]), "+r"((x).element[1]) : "r"(a), "r"(b))
#define MMA_F64_11(ptx, x) asm volatile(ptx " {%0,%1}, {%2}, {%3}, {%0,%1};" : "+d"((x).element[0]), "+d"((x).element[1]) : "d"((x).left), "d"((x).right))
