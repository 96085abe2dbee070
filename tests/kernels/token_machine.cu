// SPDX-License-Identifier: MIT
// Second hand. A scanner written with goto only, in the manner of generated code: states are labels, transitions are jumps,
// some of them into the middle of a loop (the graph of its flow is not reducible). It scans JSON-like text made of random
// bytes, a letter of an alphabet of 32 each, and counts what it saw; nesting is a stack of bits in a 64-bit word.

__constant__ char alphabet[33] = "0123456789\"\"\\{}[]:,,-.eE truefns";

extern "C" __global__ void token_machine(const unsigned char* text, int length, unsigned* counts) {
    const int me = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned char* p = text + me * length;
    const unsigned char* const end = p + length;
    unsigned numbers = 0, strings = 0, names = 0, faults = 0, escapes = 0, mismatched = 0, deepest = 0, fractions = 0;
    unsigned long long nest = 0;
    unsigned depth = 0;
    int c = 0;

#define NEXT(label)                   \
    do {                              \
        if (p == end)                 \
            goto finish;              \
        c = alphabet[*p++ & 31];      \
        goto label;                   \
    } while (0)

    NEXT(value);

value:
    if (c >= '0' && c <= '9')
        goto integer;
    switch (c) {
    case '"': NEXT(text_body);
    case '-': NEXT(sign);
    case '{':
    case '[': goto open;
    case '}':
    case ']': goto close;
    case ' ':
    case ',':
    case ':': NEXT(value);
    case 't':
    case 'f':
    case 'n': NEXT(name);
    default: goto fault;
    }
sign:
    if (c < '0' || c > '9')
        goto fault;
integer:
    ++numbers;
    while (c >= '0' && c <= '9') {
        if (p == end)
            goto finish;
        c = alphabet[*p++ & 31];
    digits: // also the target of the exponent's digits
        if (c == '.') {
            ++fractions;
            if (fractions % 3u == 0u)
                NEXT(fraction);
        }
    }
    if (c == 'e' || c == 'E')
        NEXT(exponent);
    goto value;
fraction:
    if (c >= '0' && c <= '9')
        NEXT(fraction);
    goto value;
exponent:
    if (c == '-')
        NEXT(digits);
    if (c >= '5')
        goto fault;
    goto digits;
text_body:
    for (;;) {
        if (c == '"') {
            ++strings;
            NEXT(value);
        }
        if (c == '\\')
            NEXT(escape);
        if (p == end)
            goto finish;
    resume:
        c = alphabet[*p++ & 31];
    }
escape:
    ++escapes;
    if (p == end)
        goto finish;
    if (c == 'u') {
        int skip = 4;
        do {
            if (p == end)
                goto finish;
            ++p;
        } while (--skip > 0);
        if (p == end)
            goto finish;
    }
    goto resume;
name:
    ++names;
    while (c == 'r' || c == 'u' || c == 'e' || c == 's')
        NEXT(name_more);
    goto value;
name_more:
    names += 256u;
    if (c != 'e')
        goto value;
    NEXT(value);
open:
    nest = nest << 1 | (c == '{' ? 1u : 0u);
    ++depth;
    deepest = depth > deepest ? depth : deepest;
    NEXT(value);
close:
    if (depth == 0u)
        goto fault;
    if ((nest & 1u) != (c == '}' ? 1u : 0u))
        ++mismatched;
    nest >>= 1;
    --depth;
    NEXT(value);
fault:
    ++faults;
    if (faults > 40u)
        goto finish;
    NEXT(value);

finish:
    unsigned* mine = counts + 8 * me;
    mine[0] = numbers;
    mine[1] = strings;
    mine[2] = names;
    mine[3] = faults;
    mine[4] = escapes;
    mine[5] = mismatched;
    mine[6] = deepest | depth << 16;
    mine[7] = fractions | static_cast<unsigned>(end - p) << 16;
}
