// SPDX-License-Identifier: MIT
// Second hand. Records as they come from files and wires: packed structures with words at odd addresses, bit fields with and
// without sign, unions, enumerations of one byte, booleans, arrays of three bytes, short vectors; read, changed and
// written back field by field.

#pragma pack(push, 1)
struct Wire { // 19 bytes
    unsigned char kind;
    unsigned short length;
    unsigned id;
    signed char delta;
    long long stamp;
    unsigned char rgb[3];
};
#pragma pack(pop)

enum class Colour : unsigned char { red = 1, green = 7, blue = 200 };

struct Fields {
    unsigned a : 3;
    int b : 5;
    unsigned c : 11;
    int d : 13;
    unsigned long long e : 37;
    long long f : 27;
};

union Word {
    float real;
    int whole;
    unsigned short half[2];
    signed char byte[4];
    struct {
        unsigned mantissa : 23, exponent : 8, sign : 1;
    } parts;
};

struct Mixed {
    bool flag;
    short s;
    Colour colour;
    double d;
    char name[5];
    Word word;
};

extern "C" __global__ void wire_records(const unsigned char* bytes, int records, unsigned char* out, unsigned* check) {
    const int me = blockIdx.x * blockDim.x + threadIdx.x;
    if (me >= records)
        return;
    const Wire* in = reinterpret_cast<const Wire*>(bytes) + me;
    Wire w = *in;
    unsigned sum = w.kind + w.length * 3u + w.id * 5u + static_cast<unsigned>(w.delta) * 7u + static_cast<unsigned>(w.stamp >> 11) * 11u;
    for (int i = 0; i < 3; ++i)
        sum = sum * 13u + w.rgb[(i + me) % 3];
    w.kind = static_cast<unsigned char>(w.kind << 1 | w.kind >> 7);
    w.length = static_cast<unsigned short>(w.length * 257u);
    w.id ^= sum;
    w.delta = static_cast<signed char>(-w.delta);
    w.stamp = w.stamp / 1000 + w.delta;
    w.rgb[me % 3] = static_cast<unsigned char>(255 - w.rgb[(me + 1) % 3]);
    *(reinterpret_cast<Wire*>(out) + me) = w;
    check[me] = sum;
}

extern "C" __global__ void bit_fields(const unsigned* in, int count, unsigned long long* out) {
    const int me = blockIdx.x * blockDim.x + threadIdx.x;
    if (me >= count)
        return;
    Fields f = {};
    unsigned long long hash = 14695981039346656037ULL;
    for (int i = 0; i < 12; ++i) {
        const unsigned v = in[(me + i * 7) % count];
        f.a += v;
        f.b = static_cast<int>(v >> 3) & 31;
        f.c ^= v >> 9;
        f.d = f.d - static_cast<int>(v & 0xfffu) + f.b;
        f.e = f.e * 3u + v;
        f.f = f.f + f.d * 1001;
        if (f.b < 0 && f.a > 3u)
            f.e ^= static_cast<unsigned long long>(f.c) << 20;
        hash = (hash ^ f.a) * 1099511628211ULL;
        hash = (hash ^ static_cast<unsigned long long>(static_cast<long long>(f.b))) * 1099511628211ULL;
        hash = (hash ^ f.c) * 1099511628211ULL;
        hash = (hash ^ static_cast<unsigned long long>(static_cast<long long>(f.d))) * 1099511628211ULL;
        hash = (hash ^ f.e) * 1099511628211ULL;
        hash = (hash ^ static_cast<unsigned long long>(static_cast<long long>(f.f))) * 1099511628211ULL;
    }
    out[me] = hash;
}

extern "C" __global__ void mixed_unions(const unsigned* in, int count, unsigned char* image, short* shorts) {
    __shared__ Mixed box[64];
    const int me = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    const unsigned v = in[me % count];
    Mixed& m = box[t];
    m.flag = (v & 4u) != 0u;
    m.s = static_cast<short>(v >> 5);
    m.colour = v % 3u == 0u ? Colour::red : v % 3u == 1u ? Colour::green : Colour::blue;
    m.d = static_cast<double>(static_cast<int>(v)) / 256.0;
    for (int i = 0; i < 5; ++i)
        m.name[i] = static_cast<char>('a' + (v >> (5 * i)) % 26u);
    m.word.whole = static_cast<int>(v & 0x3fffffffu);
    m.word.parts.exponent = 120u + (v & 15u);
    m.word.byte[1] = static_cast<signed char>(m.word.byte[0] + m.name[4]);
    __syncthreads();
    const Mixed& other = box[(t * 7 + 5) & 63];
    Word w = other.word;
    w.real = w.real * 2.0f - 1.0f;
    // the bytes of what was read, without the padding
    unsigned char* o = image + me * 20;
    o[0] = other.flag ? 1 : 0;
    o[1] = static_cast<unsigned char>(other.s & 255);
    o[2] = static_cast<unsigned char>(other.s >> 8 & 255);
    o[3] = static_cast<unsigned char>(other.colour);
    const long long whole = static_cast<long long>(other.d * 256.0);
    for (int i = 0; i < 7; ++i)
        o[4 + i] = static_cast<unsigned char>(whole >> (8 * i));
    for (int i = 0; i < 5; ++i)
        o[11 + i] = static_cast<unsigned char>(other.name[4 - i]);
    for (int i = 0; i < 4; ++i)
        o[16 + i] = static_cast<unsigned char>(w.byte[i]);
    // shorts at odd and even places, carried with their sign
    const short3 three = {static_cast<short>(w.half[0]), other.s, static_cast<short>(w.half[1] >> 3)};
    shorts[3 * me] = static_cast<short>(three.x + three.y);
    shorts[3 * me + 1] = static_cast<short>(three.y * three.z);
    shorts[3 * me + 2] = static_cast<short>(three.z >> 2 < three.x ? three.z : -three.x);
}
