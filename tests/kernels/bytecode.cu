// SPDX-License-Identifier: MIT
// Second hand. A small stack machine: one thread runs one instance of a program of random bytes, beginning at its own
// place, so that the warps diverge in a switch of 32 cases. The machine is total (ring stack, masked memory, jumps taken
// modulo the length), hence any bytes are a program; fuel bounds it.
// state: per thread 8 words: steps executed, reason of the halt, top of stack, depth, hash of stack, hash of memory,
// largest call depth, divisions by zero seen.

#define RING 16u
#define CELLS 16u
#define CALLS 8u

extern "C" __global__ void bytecode(const unsigned char* program, unsigned length, unsigned fuel, unsigned* state) {
    const unsigned me = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned stack[RING], cell[CELLS], back[CALLS];
    unsigned top = 0, depth = 0, deepest = 0, zero_divisions = 0, reason = 0, steps = 0;
    for (unsigned i = 0; i < RING; ++i)
        stack[i] = me * 2654435761u + i;
    for (unsigned i = 0; i < CELLS; ++i)
        cell[i] = i * i + me;
    for (unsigned i = 0; i < CALLS; ++i)
        back[i] = 0;

#define TOP stack[top & (RING - 1u)]
#define SECOND stack[(top - 1u) & (RING - 1u)]
#define PUSH(x)                                \
    do {                                       \
        const unsigned pushed_ = (x);          \
        ++top;                                 \
        stack[top & (RING - 1u)] = pushed_;    \
    } while (0)
#define BINARY(expression)                     \
    {                                          \
        const unsigned b = TOP, a = SECOND;    \
        --top;                                 \
        TOP = (expression);                    \
        break;                                 \
    }

    unsigned pc = (me * 37u) % length;
    while (steps < fuel) {
        const unsigned op = program[pc];
        pc = pc + 1u == length ? 0u : pc + 1u;
        ++steps;
        switch (op & 31u) {
        case 0: // halts only where the upper bits agree, or programs would be short
            if (op == 0u) {
                reason = 1;
                goto halted;
            }
            break;
        case 1: PUSH(op >> 5); break;
        case 2: {
            const unsigned immediate = program[pc];
            pc = (pc + 1u) % length;
            PUSH(immediate * 0x01010101u);
            break;
        }
        case 3: PUSH(TOP); break;
        case 4: {
            const unsigned t = TOP;
            TOP = SECOND;
            SECOND = t;
            break;
        }
        case 5: PUSH(stack[(top - (op >> 5)) & (RING - 1u)]); break;
        case 6: --top; break;
        case 7: BINARY(a + b)
        case 8: BINARY(a - b)
        case 9: BINARY(a * b)
        case 10: {
            if (TOP == 0u) {
                ++zero_divisions;
                TOP = 1u;
            }
            BINARY(a / b)
        }
        case 11: {
            if (TOP == 0u) {
                ++zero_divisions;
                TOP = 7u;
            }
            BINARY(a % b)
        }
        case 12: {
            const int divisor = static_cast<int>(TOP | 2u) == -1 ? -3 : static_cast<int>(TOP | 2u);
            TOP = static_cast<unsigned>(divisor);
            BINARY(static_cast<unsigned>(static_cast<int>(a) / static_cast<int>(b)))
        }
        case 13: BINARY(a & b)
        case 14: BINARY(a | ~b)
        case 15: BINARY(a ^ b)
        case 16: BINARY(a << (b & 31u))
        case 17: BINARY(a >> (b & 31u))
        case 18: BINARY(static_cast<unsigned>(static_cast<int>(a) >> (b & 31u)))
        case 19: BINARY((a << (b & 31u)) | (a >> ((32u - b) & 31u)))
        case 20: BINARY(static_cast<int>(a) < static_cast<int>(b) ? 1u : 0u)
        case 21: BINARY(a < b ? a : b)
        case 22: TOP = ~TOP; break;
        case 23: TOP = 0u - TOP; break;
        case 24: pc = (pc + (op >> 5) * 5u + 1u) % length; break;
        case 25: {
            const unsigned condition = TOP;
            --top;
            if ((condition & 1u) == 0u)
                pc = (pc + (op >> 5) + 2u) % length;
            break;
        }
        case 26: {
            back[depth & (CALLS - 1u)] = pc;
            ++depth;
            deepest = depth > deepest ? depth : deepest;
            pc = (pc + 16u + (TOP & 63u)) % length;
            break;
        }
        case 27:
            if (depth > 0u) {
                --depth;
                pc = back[depth & (CALLS - 1u)];
            }
            break;
        case 28: TOP = cell[TOP & (CELLS - 1u)]; break;
        case 29: {
            const unsigned where = TOP, what = SECOND;
            top -= 2u;
            cell[where & (CELLS - 1u)] = what;
            break;
        }
        case 30: {
            const unsigned k = op >> 5;
            if (--cell[k] % 4u != 0u)
                pc = (pc + length - 7u) % length;
            break;
        }
        default: PUSH(me ^ (steps << 16)); break;
        }
    }
    reason = 2;
halted:
    unsigned stack_hash = 2166136261u, cell_hash = 2166136261u;
    for (unsigned i = 0; i < RING; ++i)
        stack_hash = (stack_hash ^ stack[(top - i) & (RING - 1u)]) * 16777619u;
    for (unsigned i = 0; i < CELLS; ++i)
        cell_hash = (cell_hash ^ cell[i]) * 16777619u;
    unsigned* mine = state + 8u * me;
    mine[0] = steps;
    mine[1] = reason;
    mine[2] = TOP;
    mine[3] = depth;
    mine[4] = stack_hash;
    mine[5] = cell_hash;
    mine[6] = deepest;
    mine[7] = zero_divisions;
}
