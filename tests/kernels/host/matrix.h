// SPDX-License-Identifier: MIT
// Matrix instructions of a warp on the host. Sums run over k upwards, one rounding per addition;
// the hardware's order differs, so kernels take numbers whose every order gives the same (small
// integers). The layout of fragments is the PTX manual's ("Matrix Fragments for mma.…").
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "tests/kernels/host/half.h"
#include "tests/kernels/host/warp.h"

namespace occupipe::test::host {

// The elements of type T that lie in a lane's registers.
template <typename T, typename Register>
T element(const Register* registers, int at) {
    T value;
    std::memcpy(static_cast<void*>(&value),
                reinterpret_cast<const unsigned char*>(registers) + sizeof(T) * at, sizeof value);
    return value;
}

struct MmaLane {
    const void* a;
    const void* b;
    void* c;
};

// c += a·b of M×N×K; T are the factors' types, C that of sums. Rows of a are dealt to lanes / 4
// (and those + 8 when M is 16), columns of b to lanes / 4; W neighbours in k lie in one register.
template <int M, int N, int K, typename TA, typename TB, typename C>
void multiply(Lane* lanes, std::uint32_t, std::uint32_t present) {
    if (present != 0xffffffffu) throw KernelFault("a matrix instruction needs all 32 lanes");
    constexpr int W = sizeof(TA) == 8 ? 1 : 4 / sizeof(TA), rows = M / 8;
    std::array<std::array<C, K>, M> a;
    std::array<std::array<C, N>, K> b;
    for (int lane = 0; lane < 32; ++lane) {
        const auto& one = *reinterpret_cast<const MmaLane*>(lanes[lane].value);
        for (int k0 = 0; k0 < K / (4 * W); ++k0) {
            for (int w = 0; w < W; ++w) {
                const int k = k0 * 4 * W + lane % 4 * W + w;
                for (int row = 0; row < rows; ++row) {
                    a[lane / 4 + 8 * row][k] = static_cast<C>(
                        element<TA>(static_cast<const TA*>(one.a), (k0 * rows + row) * W + w));
                }
                b[k][lane / 4] =
                    static_cast<C>(element<TB>(static_cast<const TB*>(one.b), k0 * W + w));
            }
        }
    }
    for (int lane = 0; lane < 32; ++lane) {
        C* const c = static_cast<C*>(reinterpret_cast<const MmaLane*>(lanes[lane].value)->c);
        for (int i = 0; i < 2 * rows; ++i) {
            const int row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
            C sum = c[i];
            for (int k = 0; k < K; ++k) {
                if constexpr (std::is_integral_v<C>) {
                    sum += a[row][k] * b[k][column];
                } else {
                    sum = std::fma(a[row][k], b[k][column], sum);
                }
            }
            c[i] = sum;
        }
    }
}

template <int M, int N, int K, typename TA, typename TB, typename C>
void mma(C* c, const void* a, const void* b) {
    MmaLane own{a, b, c};
    exchange(0xffffffffu, &multiply<M, N, K, TA, TB, C>, reinterpret_cast<std::uintptr_t>(&own), 0);
}

// Rows of 8 elements of 16 bits, whose addresses the lanes hold, 8 lanes to a matrix.
template <int Matrices, bool Transposed>
void load_matrices(Lane* lanes, std::uint32_t, std::uint32_t present) {
    if (present != 0xffffffffu) throw KernelFault("ldmatrix needs all 32 lanes");
    for (int lane = 0; lane < 32; ++lane) {
        auto* const to =
            static_cast<unsigned*>(reinterpret_cast<const MmaLane*>(lanes[lane].value)->c);
        for (int m = 0; m < Matrices; ++m) {
            std::uint16_t part[2];
            for (int i = 0; i < 2; ++i) {
                const int row = Transposed ? lane % 4 * 2 + i : lane / 4;
                const int column = Transposed ? lane / 4 : lane % 4 * 2 + i;
                const auto& source = *reinterpret_cast<const MmaLane*>(lanes[8 * m + row].value);
                std::memcpy(&part[i], static_cast<const unsigned char*>(source.a) + 2 * column, 2);
            }
            to[m] = part[0] | static_cast<unsigned>(part[1]) << 16;
        }
    }
}

template <int Matrices, bool Transposed = false>
void ldmatrix(unsigned* registers, const void* row) {
    MmaLane own{row, nullptr, registers};
    exchange(0xffffffffu, &load_matrices<Matrices, Transposed>,
             reinterpret_cast<std::uintptr_t>(&own), 0);
}

}  // namespace occupipe::test::host

// What a kernel calls where it is compiled for the host.
namespace on_host {
using occupipe::test::host::ldmatrix;
using occupipe::test::host::mma;
}  // namespace on_host
