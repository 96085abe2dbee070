// SPDX-License-Identifier: MIT
#include "extract/parameters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/files/launch_files.h"
#include "extract/launch_template.h"
#include "extract/units.h"
#include "isa/encoding.h"

namespace occupipe::extract {
namespace {

using ::testing::HasSubstr;
using Kind = ParameterType::Kind;

isa::Kernel kernel_of(const std::string& name, const std::vector<std::int64_t>& sizes) {
    isa::Kernel kernel;
    kernel.name = name;
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        const std::int64_t alignment = std::min<std::int64_t>(sizes[i], 8);
        offset = (offset + alignment - 1) / alignment * alignment;
        kernel.parameters.push_back(
            {.ordinal = static_cast<int>(i), .offset = offset, .size = sizes[i]});
        offset += sizes[i];
    }
    return kernel;
}

constexpr const char* ptx =
    ".version 9.0\n.target sm_90\n"
    ".visible .entry other(\n\t.param .u64 other_param_0\n)\n{\n\tret;\n}\n"
    ".visible .entry k(\n\t.param .u64 k_param_0,\n\t.param .u64 .ptr .align 1 k_param_1,\n"
    "\t.param .f32 k_param_2,\n\t.param .u32 k_param_3,\n\t.param .u64 k_param_4,\n"
    "\t.param .align 8 .b8 k_param_5[16]\n)\n{\n"
    "\tld.param.u64 \t%rd1, [k_param_0];\n\tld.param.u64 \t%rd3, [k_param_4];\n"
    "\tcvta.to.global.u64 \t%rd4, %rd1;\n\tadd.s64 %rd5, %rd4, %rd3;\n}\n";

TEST(Signature, ComesFromPtx) {
    const auto types = signature_of(kernel_of("k", {8, 8, 4, 4, 8, 16}), ptx);
    ASSERT_EQ(types.size(), 6U);
    EXPECT_EQ(types[0].kind, Kind::pointer);  // becomes a global address
    EXPECT_EQ(types[1].kind, Kind::pointer);  // says so
    EXPECT_EQ(types[2].type, ElementType::f32);
    EXPECT_EQ(types[3].type, ElementType::u32);
    EXPECT_EQ(types[4].kind, Kind::integer);
    EXPECT_EQ(types[5].kind, Kind::record);
    // Of another kernel, of another number of parameters, of another size: not known.
    EXPECT_EQ(signature_of(kernel_of("kk", {8, 8, 4, 4, 8, 16}), ptx)[2].kind, Kind::unknown);
    EXPECT_EQ(signature_of(kernel_of("k", {8, 8, 4}), ptx)[2].kind, Kind::unknown);
    EXPECT_EQ(signature_of(kernel_of("k", {8, 8, 8, 4, 8, 16}), ptx)[2].kind, Kind::unknown);
}

TEST(Signature, ComesFromAMangledName) {
    const auto types =
        signature_of(kernel_of("_Z5saxpyPfPKdfiyc6float2", {8, 8, 4, 4, 8, 1, 8}), "");
    ASSERT_EQ(types.size(), 7U);
    EXPECT_EQ(types[0].pointee, ElementType::f32);
    EXPECT_EQ(types[1].pointee, ElementType::f64);
    EXPECT_EQ(types[2].type, ElementType::f32);
    EXPECT_EQ(types[3].type, ElementType::i32);
    EXPECT_EQ(types[4].type, ElementType::u64);
    EXPECT_EQ(types[5].type, ElementType::i8);
    EXPECT_EQ(types[6].kind, Kind::unknown);
    EXPECT_EQ(readable_name("_Z5saxpyPff"), "saxpy(float*, float)");
    EXPECT_EQ(readable_name("saxpy"), "saxpy");
}

TEST(FindKernel, TakesReadableNamesAndOffersNearOnes) {
    isa::Cubin cubin;
    cubin.kernels = {kernel_of("_Z5saxpyPff", {8, 4}), kernel_of("_Z5scaleIfEvPT_S0_", {8, 4}),
                     kernel_of("_Z5scaleIdEvPT_S0_", {8, 8}), kernel_of("heat", {8})};
    EXPECT_EQ(find_kernel(cubin, "saxpy").name, "_Z5saxpyPff");
    EXPECT_EQ(find_kernel(cubin, "heat").name, "heat");
    EXPECT_EQ(find_kernel(cubin, "scale<double>").name, "_Z5scaleIdEvPT_S0_");
    // void k<256u, (bool)1, 3ul>(float*)
    cubin.kernels.push_back(kernel_of("_Z1kILj256ELb1ELm3EEvPf", {8}));
    for (const char* name : {"k<256u, true, 3ul>", "k<256,true,3>", "k<256, (bool)1, 3>"})
        EXPECT_EQ(find_kernel(cubin, name).name, "_Z1kILj256ELb1ELm3EEvPf") << name;
    // void outer::kk<V<float>, -2>(V<float>*), and two kernels of one name
    cubin.kernels.back() = kernel_of("_ZN5outer2kkI1VIfELin2EEEvPT_", {8});
    for (const char* name :
         {"kk<V<float>,-2>(V<float>*)", "void outer::kk<V<float>, (int)-2>(V<float> *)",
          "outer :: kk< V< float >, -2 >", " kk "})
        EXPECT_EQ(find_kernel(cubin, name).name, "_ZN5outer2kkI1VIfELin2EEEvPT_") << name;
    cubin.kernels.push_back(kernel_of("_Z4samePfj", {8, 4}));
    EXPECT_EQ(find_kernel(cubin, "same(float *, unsigned int)").name, "_Z4samePfj");
    cubin.kernels.push_back(kernel_of("_Z4samePf", {8}));
    EXPECT_EQ(find_kernel(cubin, "same(float*, unsigned int)").name, "_Z4samePfj");
    cubin.kernels.resize(cubin.kernels.size() - 2);
    // Names of the source come first, and the exact one of them: b::k<1> and ::k<1>, void k<15>().
    isa::Cubin source;
    source.kernels = {kernel_of("_ZN1b1kILi1EEEvv", {}), kernel_of("_Z1kILi1EEvv", {}),
                      kernel_of("_Z1kILi15EEvv", {}), kernel_of("_Z1kILin1EEvv", {})};
    source.also_called = {{"b::k<1>", "_ZN1b1kILi1EEEvv"},
                          {"k<1>", "_Z1kILi1EEvv"},
                          {"k<(width)-1>", "_Z1kILi15EEvv"}};
    EXPECT_EQ(find_kernel(source, "k<1>").name, "_Z1kILi1EEvv");
    EXPECT_EQ(find_kernel(source, "b::k<1>").name, "_ZN1b1kILi1EEEvv");
    EXPECT_EQ(find_kernel(source, "k<(width) - 1>").name, "_Z1kILi15EEvv");
    EXPECT_EQ(find_kernel(source, "k<(int)-1>").name, "_Z1kILin1EEvv");
    EXPECT_THROW(find_kernel(source, "k<(width / 2) - 1>"), InputError);
    cubin.kernels.back() = kernel_of("_ZN5outer12_GLOBAL__N_15innerEPf", {8});
    EXPECT_EQ(find_kernel(cubin, "inner").name, cubin.kernels.back().name);
    cubin.kernels.pop_back();
    EXPECT_EQ(find_kernel(cubin, "saxpy(float *,float)").name, "_Z5saxpyPff");
    EXPECT_THROW(find_kernel(cubin, "saxpy(double *,float)"), InputError);
    const auto refusal = [&](const std::string& name) -> std::string {
        try {
            find_kernel(cubin, name);
            return "taken";
        } catch (const InputError& error) {
            return error.what();
        }
    };
    EXPECT_THAT(refusal("saxpi"), HasSubstr("no kernel 'saxpi' in it; near: saxpy; there are "
                                            "saxpy(float*, float), "));
    EXPECT_THAT(refusal("scale"), HasSubstr("several kernels of it are called 'scale'"));
    EXPECT_THAT(refusal(""), HasSubstr("which kernel of it?"));
    isa::Cubin one;
    one.kernels = {kernel_of("only", {})};
    EXPECT_EQ(find_kernel(one, "").name, "only");
}

std::string hexadecimal(const std::vector<std::byte>& bytes) {
    std::string text;
    for (const std::byte byte : bytes) {
        text += "0123456789abcdef"[static_cast<int>(byte >> 4)];
        text += "0123456789abcdef"[static_cast<int>(byte & std::byte{15})];
    }
    return text;
}

// Packs what a launch file says, or says why not.
std::string packed(const isa::Kernel& kernel, const std::string& arguments,
                   const std::string& text_of_ptx = "") {
    try {
        const LaunchPlan plan = parse_launches(
            "occupipe_launches: 1\nbuffers:\n  x: {type: f32, count: 4}\nlaunches:\n"
            "  - {kernel: k, grid: 1, block: 32, arguments: " +
                arguments + "}\n",
            "l.yaml");
        return hexadecimal(pack_parameters(
            plan, std::get<KernelLaunch>(plan.steps[0]), kernel, signature_of(kernel, text_of_ptx),
            [](const std::string&) { return std::uint64_t{0x1122334455667700}; }));
    } catch (const InputError& error) {
        return error.what();
    }
}

TEST(Parameters, LieWhereTheKernelLooksForThem) {
    const isa::Kernel kernel = kernel_of("k", {8, 4, 8, 2});
    EXPECT_EQ(packed(kernel, "[{buffer: x, offset: 8}, {i32: -2}, {f64: 1}, {u16: 0x1234}]"),
              "0877665544332211"
              "feffffff00000000"
              "000000000000f03f"
              "3412");
    EXPECT_EQ(packed(kernel_of("k", {16}), "[{struct: [{i8: 1}, {buffer: x}]}]"),
              "0100000000000000"
              "0077665544332211");
    EXPECT_EQ(packed(kernel_of("k", {12}), "[{struct: [{i8: 1}, {struct: [{i16: 2}, {i32: 3}]}]}]"),
              "010000000200000003000000");
    EXPECT_EQ(packed(kernel_of("k", {2}), "[{bytes: 00ff}]"), "00ff");
    EXPECT_EQ(packed(kernel_of("k", {}), "[]"), "");
}

TEST(Parameters, RefusesWhatDoesNotFit) {
    const isa::Kernel kernel = kernel_of("k", {8, 8, 4, 4, 8, 16});
    const auto with = [&](const std::string& first_to_fourth) {
        return packed(
            kernel, "[" + first_to_fourth + ", {u64: 1}, {bytes: '" + std::string(32, '0') + "'}]",
            ptx);
    };
    EXPECT_EQ(with("{buffer: x}, {buffer: x}, {f32: 1}, {i32: 1}").size(), 2U * 48);
    EXPECT_EQ(packed(kernel, "[{buffer: x}]", ptx),
              "l.yaml:5:5: kernel 'k': it takes 6 parameters, and 1 argument is given; missing is "
              "parameter 1 (8 bytes, a pointer)");
    EXPECT_EQ(packed(kernel_of("k", {4}), "[{i32: 1}, {i32: 1}]"),
              "l.yaml:5:5: kernel 'k': it takes 1 parameter, and 2 arguments are given");
    EXPECT_THAT(
        with("{buffer: x}, {buffer: x}, {i32: 1}, {i32: 1}"),
        HasSubstr("kernel 'k': argument 2: i32 (4 bytes) does not fit parameter 2 (4 bytes, f32)"));
    EXPECT_THAT(with("{buffer: x}, {buffer: x}, {f32: 1}, {f32: 1}"),
                HasSubstr("argument 3: f32 (4 bytes) does not fit parameter 3 (4 bytes, u32)"));
    EXPECT_THAT(
        with("{f64: 0}, {buffer: x}, {f32: 1}, {i32: 1}"),
        HasSubstr("argument 0: f64 (8 bytes) does not fit parameter 0 (8 bytes, a pointer)"));
    EXPECT_THAT(
        with("{buffer: x}, {buffer: x}, {buffer: x}, {i32: 1}"),
        HasSubstr("argument 2: the address of a buffer (8 bytes) does not fit parameter 2"));
    EXPECT_THAT(packed(kernel_of("k", {4}), "[{i64: 1}]"),
                HasSubstr("argument 0: i64 (8 bytes) does not fit parameter 0 (4 bytes)"));
}

// As clang writes the parameters of an OpenCL kernel.
TEST(Parameters, LocalMemoryIsDealtOutBehindTheKernelsOwn) {
    const std::string opencl =
        ".entry k(\n\t.param .u64 .ptr .shared .align 4 k_param_0,\n"
        "\t.param .u64 .ptr .global .align 4 k_param_1,\n"
        "\t.param .u64 .ptr .shared .align 16 k_param_2\n)\n{\n\tret;\n}\n";
    const isa::Kernel kernel = kernel_of("k", {8, 8, 8});
    const auto types = signature_of(kernel, opencl);
    EXPECT_EQ(types[0].space, ParameterType::Space::shared);
    EXPECT_EQ(types[1].space, ParameterType::Space::global);
    EXPECT_THAT(launch_template(isa::Cubin{}, {&kernel}, opencl, "k.cl"),
                HasSubstr("      - {local: 1024}  # bytes of the group's local memory\n"
                          "      - {buffer: b1}  # a pointer\n      - {local: 1024}"));
    const LaunchPlan plan = parse_launches(
        "occupipe_launches: 1\nbuffers:\n  x: {type: f32, count: 4}\nlaunches:\n"
        "  - {kernel: k, grid: 1, block: 32, shared_bytes: 8, arguments: [{local: 20}, {buffer: "
        "x}, "
        "{local: 100}]}\n",
        "l.yaml");
    const auto& launch = std::get<KernelLaunch>(plan.steps[0]);
    const auto address = [](const std::string&) { return std::uint64_t{0x1122334455667700}; };
    // Behind 1032 + 8 bytes: 1040, a multiple of 16; 20 bytes later at 1072.
    EXPECT_EQ(hexadecimal(pack_parameters(plan, launch, kernel, types, address, 1032)),
              "1004000000000000"
              "0077665544332211"
              "3004000000000000");
    EXPECT_EQ(dynamic_shared_bytes(launch, 1032), 1072U + 100 - 1032);
    EXPECT_THAT(packed(kernel, "[{buffer: x}, {buffer: x}, {local: 4}]", opencl),
                HasSubstr("argument 0: a buffer does not fit parameter 0 (8 bytes, local memory of "
                          "the group)"));
    EXPECT_THAT(
        packed(kernel, "[{local: 4}, {local: 4}, {local: 4}]", opencl),
        HasSubstr("argument 1: local memory does not fit parameter 1 (8 bytes, a pointer)"));
}

// The same for arguments of a command line.
std::string packed_words(const isa::Kernel& kernel, const std::string& words,
                         const std::string& text_of_ptx) {
    LaunchPlan plan;
    KernelLaunch launch;
    try {
        launch.arguments = parse_arguments(words, plan);
        return hexadecimal(pack_parameters(plan, launch, kernel, signature_of(kernel, text_of_ptx),
                                           [](const std::string&) { return std::uint64_t{0}; }));
    } catch (const InputError& error) {
        return error.what();
    }
}

TEST(Parameters, ANumberTakesItsParametersType) {
    const std::string one =
        ".entry k(.param .f32 a, .param .u32 b, .param .u64 c, .param .u8 d) {}\n";
    const isa::Kernel kernel = kernel_of("k", {4, 4, 8, 1});
    EXPECT_EQ(packed_words(kernel, "2 -1 5 255", one),
              "00000040"
              "ffffffff"
              "0500000000000000"
              "ff");
    EXPECT_THAT(packed_words(kernel, "2 1.5 5 1", one),
                HasSubstr("argument 1: '1.5' is not a whole number"));
    EXPECT_THAT(packed_words(kernel, "2 1 5 256", one), HasSubstr("256 is not from 0 to 255"));
    // Without a type a whole number could be either: it is asked for.
    EXPECT_THAT(packed_words(kernel_of("k", {4}), "2", ""),
                HasSubstr("argument 0: of parameter 0 (4 bytes) only the size is known; write the "
                          "type, such as i32:2"));
    EXPECT_EQ(packed_words(kernel_of("k", {4}), "2.0", ""), "00000040");
    EXPECT_EQ(packed_words(kernel_of("k", {8}), "2.0", ""), "0000000000000040");
}

TEST(LaunchTemplate, ReadsBack) {
    isa::Cubin cubin;
    cubin.architecture = 90;
    cubin.kernels = {kernel_of("_Z5saxpyPKdfi", {8, 4, 4}), kernel_of("k", {8, 8, 4, 4, 8, 16}),
                     kernel_of("none", {})};
    std::vector<const isa::Kernel*> kernels;
    for (const isa::Kernel& kernel : cubin.kernels) kernels.push_back(&kernel);
    const std::string text = launch_template(cubin, kernels, ptx, "a b.cu");
    const LaunchPlan plan = parse_launches(text, "template");
    EXPECT_EQ(plan.source, "a b.cu");
    EXPECT_EQ(plan.architecture, "sm_90");
    ASSERT_EQ(plan.steps.size(), 3U);
    EXPECT_EQ(plan.find_buffer("b0_0")->type, ElementType::f64);
    // What it says fits what the kernels take.
    for (std::size_t i = 0; i < 3; ++i) {
        const auto& launch = std::get<KernelLaunch>(plan.steps[i]);
        EXPECT_NO_THROW(pack_parameters(plan, launch, cubin.kernels[i],
                                        signature_of(cubin.kernels[i], ptx),
                                        [](const std::string&) { return std::uint64_t{0}; }));
    }
    EXPECT_THAT(text, HasSubstr("# saxpy(double const*, float, int)\n"));
    EXPECT_THAT(text, HasSubstr("- {f32: 0}  # f32\n"));
}

TEST(Units, EveryOpcodeOfTheTableHasOne) {
    for (const isa::Row& row : isa::rows()) EXPECT_NE(unit_of(row.name), "unknown") << row.name;
    EXPECT_EQ(unit_of("MUFU"), "function");
    EXPECT_EQ(unit_of("BAR"), "control");
    EXPECT_EQ(unit_of("MAD"), "unknown");
    EXPECT_EQ(unit_of(""), "unknown");
}

}  // namespace
}  // namespace occupipe::extract
