// SPDX-License-Identifier: MIT
// Second hand. Functions that call themselves: a recursive descent evaluator of arithmetic expressions, one expression per
// thread, over text made from random bytes. The grammar:
//   sum = product {('+'|'-') product}; product = factor {('*'|'/'|'%') factor}; factor = digit | '(' sum [')'] | '-' factor
// Every text is accepted: an unexpected character counts as a fault and is worth its position. Depth is bounded.

struct Reader {
    const unsigned char* text;
    int at, length, depth, deepest, faults;
};

// 16 characters stand for the values of a random byte; brackets are rarer than digits.
static __device__ int peek(const Reader& r) {
    return r.at < r.length ? "0123456(7)+-*/%8"[r.text[r.at] & 15] : 0;
}

static __device__ __noinline__ long long sum(Reader& r);

static __device__ __noinline__ long long factor(Reader& r) {
    const int c = peek(r);
    if (c == 0)
        return 1;
    ++r.at;
    if (c >= '0' && c <= '9') {
        long long v = c - '0';
        while (peek(r) >= '0' && peek(r) <= '9' && v < 1000000) {
            v = v * 10 + (peek(r) - '0');
            ++r.at;
        }
        return v;
    }
    if ((c == '(' || c == '-') && r.depth >= 12) {
        ++r.faults;
        return 2;
    }
    if (c == '-') {
        ++r.depth;
        const long long v = static_cast<long long>(0u - static_cast<unsigned long long>(factor(r)));
        --r.depth;
        return v;
    }
    if (c == '(') {
        ++r.depth;
        if (r.depth > r.deepest)
            r.deepest = r.depth;
        const long long v = sum(r);
        if (peek(r) == ')')
            ++r.at;
        else
            ++r.faults;
        --r.depth;
        return v;
    }
    ++r.faults;
    return r.at;
}

static __device__ __noinline__ long long product(Reader& r) {
    long long v = factor(r);
    for (;;) {
        const int c = peek(r);
        if (c != '*' && c != '/' && c != '%')
            return v;
        ++r.at;
        long long w = factor(r);
        if (c == '*') {
            v = static_cast<long long>(static_cast<unsigned long long>(v) * static_cast<unsigned long long>(w));
            continue;
        }
        if (w == 0 || w == -1) {
            ++r.faults;
            w = 7;
        }
        v = c == '/' ? v / w : v % w;
    }
}

static __device__ __noinline__ long long sum(Reader& r) {
    unsigned long long v = static_cast<unsigned long long>(product(r));
    while (peek(r) == '+' || peek(r) == '-') {
        const bool minus = peek(r) == '-';
        ++r.at;
        const unsigned long long w = static_cast<unsigned long long>(product(r));
        v = minus ? v - w : v + w;
    }
    return static_cast<long long>(v);
}

extern "C" __global__ void recursive_descent(const unsigned char* text, int length, long long* value, int* about) {
    const int me = blockIdx.x * blockDim.x + threadIdx.x;
    Reader r = {text + me * length, 0, length, 0, 0, 0};
    unsigned long long all = 0;
    while (r.at < r.length) {
        all = all * 1000003u + static_cast<unsigned long long>(sum(r));
        if (peek(r) == ')') {
            ++r.faults;
            ++r.at;
        }
    }
    value[me] = static_cast<long long>(all);
    about[2 * me] = r.deepest;
    about[2 * me + 1] = r.faults;
}
