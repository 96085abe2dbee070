// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "core/files/files.h"
#include "core/group_shares.h"
#include "tests/support/random_values.h"

namespace occupipe {
namespace {

TEST(KernelYaml, EveryKeyArrives) {
    const Kernel kernel = parse_kernel(
        "format: occupipe-kernel/1\n"
        "name: divergent\n"
        "warps:\n"
        "  - share: 0.25\n"
        "    instructions:\n"
        "      - {id: a, op: f, kind: load}\n"
        "  - share: 0.75\n"
        "    instructions:\n"
        "      - repeat: 64\n"
        "        body:\n"
        "          - {id: a, op: g, after: [a@-1]}\n"
        "launch: {group_warps: 3, concurrent_groups: 4, groups: 1300}\n"
        "groups:\n"
        "  kinds:\n"
        "    - [0, 1, 1]\n"
        "    - [1, 1, 1]\n"
        "  order: [[1, 325], [0, 975]]\n",
        "k.yaml");
    ASSERT_TRUE(kernel.groups);
    EXPECT_EQ(kernel.groups->kinds, (std::vector<std::vector<std::int32_t>>{{0, 1, 1}, {1, 1, 1}}));
    EXPECT_EQ(kernel.groups->order, (std::vector<GroupKinds::Run>{{1, 325}, {0, 975}}));
    EXPECT_EQ(parse_kernel(format_kernel(kernel), "k.yaml"), kernel);
    EXPECT_EQ(kernel.name, "divergent");
    ASSERT_EQ(kernel.warps.size(), 2U);
    EXPECT_EQ(kernel.warps[0].share, 0.25);
    const auto& a = std::get<KernelInstruction>(kernel.warps[0].instructions[0]);
    EXPECT_EQ(a.kind, InstructionKind::load);
    EXPECT_EQ(a.where, (SourcePosition{6, 9}));
    const auto& repeat = std::get<Repeat>(kernel.warps[1].instructions[0]);
    EXPECT_EQ(repeat.count, 64);
    EXPECT_EQ(std::get<KernelInstruction>(repeat.body[0]).after,
              (std::vector<Dependence>{{"a", 1}}));
    EXPECT_EQ(kernel.launch, (Launch{3, 4, 1300}));
}

// What is wrong with groups is told with its place.
TEST(KernelYaml, FaultsOfGroupsHaveLines) {
    const auto refused = [](const std::string& groups, const std::string& share = "0.25") {
        const std::string text =
            "format: occupipe-kernel/1\nname: k\nwarps:\n"
            "  - share: " +
            share +
            "\n    instructions:\n      - {id: a, op: f}\n"
            "  - share: 0.75\n    instructions:\n      - {id: a, op: g}\n"
            "launch: {group_warps: 2, concurrent_groups: 1, groups: 8}\n"
            "groups:\n" +
            groups;
        try {
            parse_kernel(text, "k.yaml");
        } catch (const InputError& error) {
            return std::string(error.what());
        }
        return std::string("taken");
    };
    EXPECT_EQ(refused("  kinds: [[0, 1], [1, 1]]\n  order: [[0, 4], [1, 4]]\n"), "taken");
    EXPECT_EQ(refused("  kinds: [[0, 2], [1, 1]]\n  order: [[0, 4], [1, 4]]\n"),
              "k.yaml:12:15: groups.kinds[0][1]: 'warps' has 2 entries, from 0 on, none is 2");
    EXPECT_EQ(refused("  kinds: [[0, 1], [1]]\n  order: [[0, 4], [1, 4]]\n"),
              "k.yaml:12:19: groups.kinds[1]: a kind has 1 warps, a group of the launch 2");
    EXPECT_EQ(refused("  kinds: [[0, 1], [1, 1]]\n  order: [[0, 4], [2, 4]]\n"),
              "k.yaml:13:20: groups.order[1][0]: 'kinds' has 2 entries, from 0 on, none is 2");
    // 4 of 5 groups have a warp of the first list: 0.4 of the warps.
    EXPECT_EQ(
        refused("  kinds: [[0, 1], [1, 1]]\n  order: [[0, 4], [1, 1]]\n"),
        "k.yaml:4:12: warps[0].share: entry 0 of 'warps' has 0.25, and by 'groups' 0.4 of the "
        "warps run it");
}

TEST(KernelYaml, WritesWhatItReads) {
    const std::string text =
        "format: occupipe-kernel/1\n"
        "name: example\n"
        "instructions:\n"
        "  - {id: i, op: mad.s32}\n"
        "  - repeat: 64\n"
        "    body:\n"
        "      - {id: a, op: fma.f32, after: [i, a@-1], at: my kernel.cu:14, stall: 4}\n"
        "  - {id: s, op: st.global.f32, after: [a], at: kernel.cu:17}\n"
        "launch: {group_warps: 8, concurrent_groups: 4, groups: 1300}\n";
    EXPECT_EQ(format_kernel(parse_kernel(text, "k.yaml")), text);
}

TEST(KernelYaml, WritesWhatItReadsOfMemory) {
    const std::string text =
        "format: occupipe-kernel/1\n"
        "name: example\n"
        "memory: {cores: 46, concurrent_groups: 4, group_shared_bytes: 8192, order: round_robin}\n"
        "instructions:\n"
        "  - {id: x, op: ld.global.f32, memory: {bytes: 128, sectors: 4.5, least_sectors: 4, "
        "core: [[4096, 0.25], [8192, 0.5]], device: []}}\n"
        "  - {id: b, op: ld.shared.f32, memory: {bytes: 128, passes: 2, least_passes: 1}}\n"
        "  - {id: z, op: st.global.f32, memory: {bytes: 0, written: [[1048576, 1]]}}\n";
    const Kernel kernel = parse_kernel(text, "k.yaml");
    EXPECT_EQ(format_kernel(kernel), text);
    const auto& load = std::get<KernelInstruction>(kernel.warps[0].instructions[0]).memory;
    ASSERT_TRUE(load && load->core);
    EXPECT_EQ(share_at(*load->core, 4095), 0);
    EXPECT_EQ(share_at(*load->core, 4096), 0.25);
    EXPECT_EQ(share_at(*load->core, 8191), 0.25);
    EXPECT_EQ(share_at(*load->core, 1e9), 0.5);
    EXPECT_EQ(share_at(*load->device, 1e18), 0);
    EXPECT_FALSE(load->written);
}

class RandomKernel {
public:
    explicit RandomKernel(std::uint64_t seed) : random_(seed) {}

    Kernel make() {
        Kernel kernel;
        kernel.name = random_.title();
        const std::int64_t programs = random_.chance(0.7) ? 1 : random_.between(2, 4);
        for (std::int64_t i = 0; i < programs; ++i) {
            earlier_.clear();
            kernel.warps.push_back({1.0 / static_cast<double>(programs), list(3, false)});
        }
        if (random_.chance(0.3)) kernel.order = Order::in_order;
        kernel.memory = {.cores = static_cast<int>(random_.between(1, 200)),
                         .concurrent_groups = static_cast<int>(random_.between(1, 32)),
                         .group_shared_bytes = random_.between(0, 100'000),
                         .order = static_cast<MemoryOrder>(random_.between(0, 1))};
        if (random_.chance(0.5)) {
            kernel.launch =
                Launch{static_cast<int>(random_.between(1, 32)),
                       static_cast<int>(random_.between(1, 32)), random_.between(1, most_groups)};
        }
        if (kernel.launch && random_.chance(0.5)) {
            kernel.groups.emplace();
            for (std::int64_t kind = random_.between(1, 3); kind > 0; --kind) {
                kernel.groups->kinds.emplace_back();
                for (int warp = 0; warp < kernel.launch->group_warps; ++warp)
                    kernel.groups->kinds.back().push_back(
                        static_cast<std::int32_t>(random_.between(0, programs - 1)));
            }
            const auto kinds = static_cast<std::int64_t>(kernel.groups->kinds.size());
            for (std::int64_t run = random_.between(1, 4); run > 0; --run)
                kernel.groups->order.push_back(
                    {static_cast<std::int32_t>(random_.between(0, kinds - 1)),
                     random_.between(1, 1'000'000)});
            const auto shares = shares_of_groups(*kernel.groups, kernel.warps.size());
            if (std::ranges::count(shares, 0) > 0) {
                kernel.groups.reset();
                return kernel;
            }
            for (std::size_t i = 0; i < shares.size(); ++i) kernel.warps[i].share = shares[i];
        }
        return kernel;
    }

private:
    std::vector<KernelItem> list(int depth, bool in_repeat) {
        std::vector<KernelItem> items;
        for (std::int64_t n = random_.between(1, 4); n > 0; --n) {
            if (depth > 0 && random_.chance(0.3)) {
                Repeat repeat;
                repeat.count = random_.between(1, 1000);
                repeat.body = list(depth - 1, true);
                items.emplace_back(std::move(repeat));
            } else {
                items.emplace_back(instruction(in_repeat));
            }
        }
        return items;
    }

    KernelInstruction instruction(bool in_repeat) {
        KernelInstruction result;
        result.id = random_.name(next_++);
        result.op = random_.name(random_.between(0, 3));
        if (random_.chance(0.2)) {
            result.kind = static_cast<InstructionKind>(random_.between(0, 3));
        }
        if (!earlier_.empty() && random_.chance(0.6)) {
            result.after.push_back({earlier_[static_cast<std::size_t>(
                                        random_.between(0, static_cast<int>(earlier_.size()) - 1))],
                                    0});
        }
        if (in_repeat && random_.chance(0.5)) {
            result.after.push_back({result.id, random_.between(1, 3)});
        }
        if (random_.chance(0.2)) {
            result.at = random_.title() + ':' + std::to_string(random_.between(1, 100'000));
        }
        if (random_.chance(0.2)) {
            result.stall = static_cast<int>(random_.between(1, most_stall_cycles));
        }
        if (random_.chance(0.2)) result.memory = memory();
        earlier_.push_back(result.id);
        return result;
    }

    MemoryUse memory() {
        const auto number = [&](std::int64_t most) {
            return static_cast<double>(random_.between(0, most));
        };
        MemoryUse use;
        use.bytes = 1 + number(512);
        use.least_sectors = number(16);
        use.sectors = use.least_sectors + number(100) / 7;
        use.least_passes = 1 + number(4);
        use.passes = use.least_passes + number(100) / 7;
        if (random_.chance(0.5)) use.core = reuse();
        if (random_.chance(0.5)) use.device = reuse();
        if (random_.chance(0.5)) use.written = reuse();
        return use;
    }

    Reuse reuse() {
        Reuse points;
        std::int64_t bytes = 0;
        const std::int64_t count = random_.between(0, 4);
        for (std::int64_t i = 1; i <= count; ++i) {
            bytes += random_.between(1, 1'000'000);
            points.push_back({bytes, static_cast<double>(i) / static_cast<double>(count + 1)});
        }
        return points;
    }

    test::RandomValues random_;
    std::vector<std::string> earlier_;
    std::int64_t next_ = 0;
};

TEST(KernelYaml, RandomKernelsSurviveARoundTrip) {
    for (std::uint64_t seed = 0; seed < 1500; ++seed) {
        const Kernel kernel = RandomKernel(seed).make();
        const std::string text = format_kernel(kernel);
        try {
            ASSERT_EQ(parse_kernel(text, "k.yaml"), kernel) << "seed " << seed << "\n" << text;
        } catch (const InputError& fault) {
            FAIL() << "seed " << seed << ": " << fault.what() << "\n" << text;
        }
    }
}

}  // namespace
}  // namespace occupipe
