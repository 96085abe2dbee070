// SPDX-License-Identifier: MIT
// Second hand. Exhaustive search without recursion: every thread places the first two queens by its number and counts the
// boards below with an explicit stack in local memory, leaving two nested loops at once by goto. A second kernel walks
// the permutations of eight letters in Heap's order until one satisfies a condition from a file of random words.

extern "C" __global__ void queens(int size, unsigned* solutions, unsigned* nodes, unsigned* total) {
    const int me = blockIdx.x * blockDim.x + threadIdx.x;
    const int first = me / size, second = me % size;
    unsigned found = 0, visited = 0;
    unsigned cols[16], left[16], right[16], open[16];
    const unsigned full = (1u << size) - 1u;
    if (me < size * size) {
        if (first == second || first + 1 == second || second + 1 == first)
            goto done;
        {
            int depth = 2;
            cols[2] = 1u << first | 1u << second;
            left[2] = (1u << first) << 2 | (1u << second) << 1;
            right[2] = (1u << first) >> 2 | (1u << second) >> 1;
            open[2] = full & ~(cols[2] | left[2] | right[2]);
            for (;;) {
                while (open[depth] == 0u) {
                    if (--depth < 2)
                        goto done;
                }
                const unsigned place = open[depth] & (0u - open[depth]);
                open[depth] ^= place;
                ++visited;
                if (depth + 1 == size) {
                    ++found;
                    continue;
                }
                cols[depth + 1] = cols[depth] | place;
                left[depth + 1] = (left[depth] | place) << 1;
                right[depth + 1] = (right[depth] | place) >> 1;
                ++depth;
                open[depth] = full & ~(cols[depth] | left[depth] | right[depth]);
            }
        }
    done:
        solutions[me] = found;
        nodes[me] = visited;
        atomicAdd(total, found);
    }
}

extern "C" __global__ void heap_permutations(const unsigned* wanted, unsigned modulus, int* tries, unsigned* letters) {
    const unsigned me = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned char p[8], counter[8];
    for (int i = 0; i < 8; ++i) {
        p[i] = (unsigned char)i;
        counter[i] = 0;
    }
    const unsigned target = wanted[me] % modulus;
    int tried = 0, level = 1;
    bool hit = false;
    do {
        unsigned weight = 0;
        for (int i = 0; i < 8; ++i)
            weight = weight * 9u + p[i];
        ++tried;
        if (weight % modulus == target) {
            hit = true;
            break;
        }
        while (level < 8 && counter[level] >= level) {
            counter[level] = 0;
            ++level;
        }
        if (level == 8)
            break;
        const int other = (level & 1) != 0 ? counter[level] : 0;
        const unsigned char t = p[other];
        p[other] = p[level];
        p[level] = t;
        ++counter[level];
        level = 1;
    } while (tried < 50000);
    tries[me] = hit ? tried : -tried;
    unsigned packed = 0;
    for (int i = 0; i < 8; ++i)
        packed |= (unsigned)p[i] << (4 * i);
    letters[me] = packed;
}
