// SPDX-License-Identifier: MIT
// Second hand. Regular expressions without groups (letters, '.', '[abc]', each with '*', '+' or '?') over lines of random
// letters: every warp compiles one pattern from constant memory to bit sets in shared memory, then its lanes run the
// automaton, one line each, all states at once in one word. whole: the line matches; longest: of the longest match
// beginning anywhere, the length and the place of the first such.

#define PATTERNS 8
#define PATTERN_LENGTH 16

__constant__ char patterns[PATTERNS][PATTERN_LENGTH] = {"a*b+c?",   ".*abc.*", "[ab]*c[cd]+", "a?a?a?aaa", "d.d*.a", "[abcd]*dd", "b*[ac]?b+a*d", "a.*b.*c"};

struct Automaton {
    unsigned letter[4]; // places that a letter may enter
    unsigned repeat;    // places that may be entered again from themselves
    unsigned skip;      // places that may be passed over
    unsigned length;
};

static __device__ void compile(const char* p, Automaton& a) {
    a.letter[0] = a.letter[1] = a.letter[2] = a.letter[3] = a.repeat = a.skip = 0u;
    unsigned place = 0;
    while (*p != '\0') {
        const unsigned bit = 1u << place;
        switch (*p) {
        case '.':
            for (int k = 0; k < 4; ++k)
                a.letter[k] |= bit;
            ++p;
            break;
        case '[':
            while (*++p != ']')
                a.letter[*p - 'a'] |= bit;
            ++p;
            break;
        default: a.letter[*p++ - 'a'] |= bit; break;
        }
        if (*p == '*' || *p == '+')
            a.repeat |= bit;
        if (*p == '*' || *p == '?')
            a.skip |= bit;
        if (*p == '*' || *p == '+' || *p == '?')
            ++p;
        ++place;
    }
    a.length = place;
}

// Bit i: "before place i"; closes the set under skipping: a carry runs through neighbouring places that may be passed.
static __device__ unsigned closure(unsigned set, unsigned skip) {
    for (;;) {
        const unsigned more = set | (set & skip) << 1;
        if (more == set)
            return set;
        set = more;
    }
}

static __device__ unsigned step(unsigned set, unsigned letter, const Automaton& a) {
    const unsigned taken = set & a.letter[letter];
    return closure(taken << 1 | (taken & a.repeat), a.skip);
}

extern "C" __global__ void pattern_match(const unsigned char* lines, int length, int count, unsigned char* whole, unsigned short* longest) {
    __shared__ Automaton machines[PATTERNS];
    const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
    if (warp >= PATTERNS)
        return;
    if (lane == 0)
        compile(patterns[warp], machines[warp]);
    __syncwarp();
    const Automaton& a = machines[warp];
    const unsigned accept = 1u << a.length;
    const int line = blockIdx.x * 32 + lane;
    if (line >= count)
        return;
    const unsigned char* s = lines + line * length;
    unsigned set = closure(1u, a.skip);
    for (int i = 0; i < length && set != 0u; ++i)
        set = step(set, s[i] & 3u, a);
    whole[warp * count + line] = (set & accept) != 0u ? 1 : 0;
    int best = -1, where = 0;
    for (int from = 0; from < length; ++from) {
        if (length - from <= best)
            break;
        set = closure(1u, a.skip);
        int i = from;
        do {
            if ((set & accept) != 0u && i - from > best) {
                best = i - from;
                where = from;
            }
            if (i == length)
                break;
            set = step(set, s[i++] & 3u, a);
        } while (set != 0u);
    }
    longest[warp * count + line] = static_cast<unsigned short>(best < 0 ? 0xffff : best << 8 | where);
}
