// SPDX-License-Identifier: MIT
// Accelerations of bodies (x, y, z, mass) with rsqrt, and functions of the special function unit of
// them: what is approximate on a GPU, so that results agree within a tolerance.
__kernel void nbody(__global const float4* bodies, __global float4* out, __global float* functions, int n) {
    const int i = get_global_id(0);
    if (i >= n) return;
    const float4 own = bodies[i];
    float3 sum = (float3)(0.0f, 0.0f, 0.0f);
    for (int j = 0; j < n; ++j) {
        const float4 other = bodies[j];
        const float3 d = other.xyz - own.xyz;
        const float inverse = rsqrt(dot(d, d) + 0.25f);
        sum += d * (other.w * inverse * inverse * inverse);
    }
    out[i] = (float4)(sum, native_sqrt(own.w));
    functions[8 * i + 0] = native_sin(own.x);
    functions[8 * i + 1] = native_cos(own.x);
    functions[8 * i + 2] = native_exp(own.y);
    functions[8 * i + 3] = native_log(own.w);
    functions[8 * i + 4] = native_divide(own.x, own.w);
    functions[8 * i + 5] = native_powr(own.w, 1.5f);
    functions[8 * i + 6] = exp(own.y) + sin(own.z);
    functions[8 * i + 7] = native_recip(own.w) + native_exp2(own.z) + native_rsqrt(own.w);
}
