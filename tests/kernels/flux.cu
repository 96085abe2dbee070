// SPDX-License-Identifier: MIT
// Fluxes of a compressible gas over the faces of cells (in the style of Rodinia's cfd): neighbours by
// index, walls and far field by negative ones; pairs of floats take packed instructions where there are.

struct Pair {
    float x, y;
};

// a·b + c of both parts at once.
__device__ __forceinline__ Pair fused(Pair a, Pair b, Pair c) {
#if defined(__CUDACC__) && __CUDA_ARCH__ >= 1000
    unsigned long long u, v, w, r;
    asm("mov.b64 %0, {%1, %2};" : "=l"(u) : "f"(a.x), "f"(a.y));
    asm("mov.b64 %0, {%1, %2};" : "=l"(v) : "f"(b.x), "f"(b.y));
    asm("mov.b64 %0, {%1, %2};" : "=l"(w) : "f"(c.x), "f"(c.y));
    asm("fma.rn.f32x2 %0, %1, %2, %3;" : "=l"(r) : "l"(u), "l"(v), "l"(w));
    Pair result;
    asm("mov.b64 {%0, %1}, %2;" : "=f"(result.x), "=f"(result.y) : "l"(r));
    return result;
#else
    return Pair{fmaf(a.x, b.x, c.x), fmaf(a.y, b.y, c.y)};
#endif
}

struct State {
    float density, energy;
    Pair momentum;
};

__device__ __forceinline__ State load(const float* cells, int i, int n) {
    return State{cells[i], 4.0f * cells[3 * n + i], Pair{cells[n + i], cells[2 * n + i]}};
}

extern "C" __global__ void flux(const float* cells, const int* neighbours, const float2* normals, float* out, float2 far, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const State own = load(cells, i, n);
    const float over_density = 1.0f / own.density;
    const Pair velocity{own.momentum.x * over_density, own.momentum.y * over_density};
    const float square = velocity.x * velocity.x + velocity.y * velocity.y;
    const float pressure = 0.4f * (own.energy - 0.5f * own.density * square);
    const float sound = sqrtf(1.4f * pressure * over_density);
    float density = 0, energy = 0, fastest = 0;
    Pair momentum{0, 0};
    for (int face = 0; face < 4; ++face) {
        const float2 normal = normals[face * n + i];
        const int other = neighbours[face * n + i];
        const Pair direction{normal.x, normal.y};
        if (other >= 0) {
            const State next = load(cells, other, n);
            const float over = 1.0f / next.density;
            const Pair v{next.momentum.x * over, next.momentum.y * over};
            const float p = 0.4f * (next.energy - 0.5f * next.density * (v.x * v.x + v.y * v.y));
            const float speed = sqrtf(1.4f * p * over);
            const float length = sqrtf(normal.x * normal.x + normal.y * normal.y);
            const float factor = -0.2f * length * (speed + sound + sqrtf(square) + sqrtf(v.x * v.x + v.y * v.y));
            density += factor * (own.density - next.density);
            energy += factor * (own.energy - next.energy);
            momentum = fused(Pair{factor, factor}, Pair{own.momentum.x - next.momentum.x, own.momentum.y - next.momentum.y}, momentum);
            const float through = 0.5f * (normal.x * (velocity.x + v.x) + normal.y * (velocity.y + v.y));
            density += through * 0.5f * (own.density + next.density);
            momentum = fused(Pair{through, through}, own.momentum, momentum);
            momentum = fused(Pair{0.5f * (p + pressure), 0.5f * (p + pressure)}, direction, momentum);
            fastest = fmaxf(fmaxf(fastest, speed), length);
        } else if (other < -40) {
            momentum = fused(Pair{pressure, pressure}, direction, momentum);
        } else {
            const float through = normal.x * far.x + normal.y * far.y;
            density += through;
            momentum = fused(Pair{far.x * through, far.y * through}, Pair{0.5f, 0.5f}, momentum);
        }
    }
    out[i] = density;
    out[n + i] = momentum.x;
    out[2 * n + i] = momentum.y;
    out[3 * n + i] = energy + fastest;
}
