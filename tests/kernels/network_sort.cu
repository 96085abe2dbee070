// SPDX-License-Identifier: MIT
// Second hand. A sorting network that the compiler unrolls: Batcher's odd-even merge sort of the 16 elements of a row in
// the registers of one thread, every comparison's place computed by template recursion; orders are policy classes.
// Reference of the algorithm: K. Batcher, Sorting networks and their applications, AFIPS 1968.

namespace net {

template <typename T>
struct Up {
    static __device__ __forceinline__ bool wrong(const T& a, const T& b) { return b < a; }
};

template <typename T>
struct Down {
    static __device__ __forceinline__ bool wrong(const T& a, const T& b) { return a < b; }
};

// Distance from a pivot, the lower value first among equals.
template <long long Pivot>
struct Near {
    static __device__ __forceinline__ unsigned long long far(long long v) {
        return v < Pivot ? static_cast<unsigned long long>(Pivot) - static_cast<unsigned long long>(v)
                         : static_cast<unsigned long long>(v) - static_cast<unsigned long long>(Pivot);
    }
    static __device__ __forceinline__ bool wrong(const long long& a, const long long& b) {
        const unsigned long long da = far(a), db = far(b);
        return db < da || (da == db && b < a);
    }
};

template <class Order, int I, int J, typename T, int Size>
__device__ __forceinline__ void exchange(T (&v)[Size]) {
    static_assert(I < J && J < Size, "a comparator joins two places of the row");
    const bool turn = Order::wrong(v[I], v[J]);
    const T low = turn ? v[J] : v[I];
    const T high = turn ? v[I] : v[J];
    v[I] = low;
    v[J] = high;
}

template <class Order, int Place, int Last, int Distance, int Stride>
struct Comb {
    template <typename T, int Size>
    static __device__ __forceinline__ void apply(T (&v)[Size]) {
        if constexpr (Place + Distance < Last) {
            exchange<Order, Place, Place + Distance>(v);
            Comb<Order, Place + Stride, Last, Distance, Stride>::apply(v);
        }
    }
};

template <class Order, int Begin, int Length, int Distance>
struct Merge {
    template <typename T, int Size>
    static __device__ __forceinline__ void apply(T (&v)[Size]) {
        constexpr int twice = 2 * Distance;
        if constexpr (twice < Length) {
            Merge<Order, Begin, Length, twice>::apply(v);
            Merge<Order, Begin + Distance, Length, twice>::apply(v);
            Comb<Order, Begin + Distance, Begin + Length, Distance, twice>::apply(v);
        } else {
            exchange<Order, Begin, Begin + Distance>(v);
        }
    }
};

template <class Order, int Begin, int Length>
struct Sort {
    template <typename T, int Size>
    static __device__ __forceinline__ void apply(T (&v)[Size]) {
        if constexpr (Length > 1) {
            Sort<Order, Begin, Length / 2>::apply(v);
            Sort<Order, Begin + Length / 2, Length / 2>::apply(v);
            Merge<Order, Begin, Length, 1>::apply(v);
        }
    }
};

template <class Order, typename T, int Width>
__device__ __forceinline__ void rows(const T* in, T* out, int count) {
    for (int row = blockIdx.x * blockDim.x + threadIdx.x; row < count; row += gridDim.x * blockDim.x) {
        T v[Width];
#pragma unroll
        for (int i = 0; i < Width; ++i)
            v[i] = in[row * Width + i];
        Sort<Order, 0, Width>::apply(v);
#pragma unroll
        for (int i = 0; i < Width; ++i)
            out[row * Width + i] = v[i];
    }
}

} // namespace net

extern "C" __global__ void sort_rows_i64_near(const long long* in, long long* out, int count) {
    net::rows<net::Near<-1000000007LL>, long long, 16>(in, out, count);
}

extern "C" __global__ void sort_rows_i32(const int* in, int* out, int count) { net::rows<net::Up<int>, int, 16>(in, out, count); }

extern "C" __global__ void sort_rows_u8_down(const unsigned char* in, unsigned char* out, int count) {
    net::rows<net::Down<unsigned char>, unsigned char, 16>(in, out, count);
}

extern "C" __global__ void sort_rows_f32(const float* in, float* out, int count) { net::rows<net::Up<float>, float, 8>(in, out, count); }
