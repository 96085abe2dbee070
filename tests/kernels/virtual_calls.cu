// SPDX-License-Identifier: MIT
// Second hand. Objects with virtual functions on the stack of a thread, reached through pointers to their base: the tables of
// virtual functions are data of the module with addresses in them. A chain of filters over a signal, chosen by data.

class Filter {
public:
    __device__ explicit Filter(int tag) : tag_(tag) {}
    __device__ virtual int apply(int x) { return x; }
    __device__ virtual unsigned describe() const { return 0x10u; }
    __device__ int tag() const { return tag_; }

protected:
    int tag_;
};

class Delay : public Filter {
public:
    __device__ Delay(int tag, int taps) : Filter(tag), at_(0), taps_(taps) {
        for (int i = 0; i < 8; ++i)
            line_[i] = 0;
    }
    __device__ int apply(int x) override {
        const int old = line_[at_];
        line_[at_] = x;
        at_ = at_ + 1 == taps_ ? 0 : at_ + 1;
        return old;
    }
    __device__ unsigned describe() const override { return 0x20u + static_cast<unsigned>(at_); }

private:
    int line_[8];
    int at_, taps_;
};

class Clamp : public Filter {
public:
    __device__ Clamp(int tag, short low, short high) : Filter(tag), hits_(0), low_(low), high_(high) {}
    __device__ int apply(int x) override {
        if (x < low_) {
            ++hits_;
            return low_;
        }
        if (x > high_) {
            ++hits_;
            return high_;
        }
        return x;
    }
    __device__ unsigned describe() const override { return 0x4000u + static_cast<unsigned>(hits_); }

private:
    int hits_;
    short low_, high_;
};

class Integrator : public Filter {
public:
    __device__ explicit Integrator(int tag) : Filter(tag), sum_(0) {}
    __device__ int apply(int x) override {
        sum_ += x;
        return static_cast<int>(sum_ / 3);
    }
    __device__ unsigned describe() const override { return static_cast<unsigned>(static_cast<unsigned long long>(sum_) % 65521u) << 12; }

private:
    long long sum_;
};

extern "C" __global__ void virtual_calls(const int* signal, int length, const unsigned* order, int* out, unsigned* about) {
    const int me = blockIdx.x * blockDim.x + threadIdx.x;
    Delay delay(1, 3 + me % 5);
    Clamp clamp(2, static_cast<short>(-1000 - me), static_cast<short>(900 + me));
    Integrator integrator(3);
    Filter plain(4);
    Filter* chain[4] = {&delay, &clamp, &integrator, &plain};
    int last = 0;
    for (int i = 0; i < length; ++i) {
        unsigned choice = order[i] ^ static_cast<unsigned>(me) * 0x9e3779b9u;
        int x = signal[i] % 5000 + last / 2;
        for (int k = 0; k < 3; ++k) {
            x = chain[choice & 3u]->apply(x);
            choice >>= 2;
        }
        last = x;
    }
    out[me] = last;
    unsigned sum = 0;
    for (int k = 0; k < 4; ++k)
        sum = sum * 31u + chain[(k + me) & 3]->describe() + static_cast<unsigned>(chain[(k + me) & 3]->tag());
    about[me] = sum;
}
