// SPDX-License-Identifier: MIT
#include "extract/naming.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "core/instruction.h"
#include "core/text.h"
#include "extract/units.h"

namespace occupipe::extract {
namespace {

struct MachineName {
    std::string_view opcode;
    std::string_view modifiers;  // all of them present, blanks between
    std::string_view names;      // as profiles call it, best first, blanks between
};

// First match counts; special rows stand before general ones.
constexpr MachineName table[] = {
    // binary32
    {"FFMA", "", "fma.f32"},
    {"FADD", "", "add.f32"},
    {"FMUL", "", "mul.f32"},
    {"FMNMX", "", "min.f32 max.f32"},
    {"FSETP", "", "setp.lt.f32"},
    {"FADD2", "", "add.f32x2"},
    {"FMUL2", "", "mul.f32x2"},
    {"FFMA2", "", "fma.f32x2"},
    {"FMNMX3", "", "min3.f32 max3.f32"},
    {"FSEL", "", "slct.b32 selp.f32"},
    // binary64
    {"DFMA", "", "fma.f64"},
    {"DADD", "", "add.f64"},
    {"DMUL", "", "mul.f64"},
    {"DSETP", "", "setp.lt.f64"},
    {"DMNMX", "", "min.f64 max.f64"},
    // halves
    {"HFMA2", "BF16_V2", "fma.bf16x2 fma.bf16"},
    {"HFMA2", "BF16", "fma.bf16x2 fma.bf16"},
    {"HFMA2", "", "fma.f16x2 fma.f16"},
    {"HADD2", "BF16_V2", "add.bf16x2 add.bf16"},
    {"HADD2", "", "add.f16x2 add.f16"},
    {"HMUL2", "BF16_V2", "mul.bf16x2 mul.bf16"},
    {"HMUL2", "", "mul.f16x2 mul.f16"},
    {"HMNMX2", "BF16_V2", "min.bf16x2 max.bf16x2"},
    {"HMNMX2", "", "min.f16x2 max.f16x2"},
    // special functions
    {"MUFU", "RCP", "rcp.approx.ftz.f32"},
    {"MUFU", "RSQ", "rsqrt.approx.ftz.f32"},
    {"MUFU", "SQRT", "sqrt.approx.ftz.f32"},
    {"MUFU", "EX2 F16", "ex2.approx.f16"},
    {"MUFU", "EX2 BF16", "ex2.approx.ftz.bf16"},
    {"MUFU", "EX2", "ex2.approx.ftz.f32"},
    {"MUFU", "LG2", "lg2.approx.ftz.f32"},
    {"MUFU", "SIN", "sin.approx.ftz.f32 sin.approx.f32 cos.approx.f32"},
    {"MUFU", "COS", "cos.approx.ftz.f32 cos.approx.f32"},
    {"MUFU", "TANH F16", "tanh.approx.f16"},
    {"MUFU", "TANH BF16", "tanh.approx.bf16"},
    {"MUFU", "TANH", "tanh.approx.f32"},
    {"MUFU", "RCP64H", "rcp.approx.ftz.f64"},
    {"MUFU", "RSQ64H", "rsqrt.approx.ftz.f64"},
    // integers
    {"IMAD", "MOV", issue_slot},
    {"IMAD", "SHL", "mad.s32 mul.s32"},
    {"IMAD", "IADD", "mad.s32 mul.s32"},
    {"IMAD", "WIDE", "mad.wide.u32"},
    {"IMAD", "HI", "mul.hi.u32 mul.hi.s32"},
    {"IMAD", "", "mad.s32 mul.s32"},
    {"IADD3", "", "add.s32 sub.s32"},
    {"IADD", "64", "add.s64"},
    {"VIADD", "", "add.s32"},
    {"LEA", "", "add.s32"},
    {"LOP3", "", "lop3.b32 xor.b32 and.b32 or.b32"},
    {"SHF", "", "shf.l.wrap.b32 shl.b32 shr.u32"},
    {"ISETP", "", "setp.lt.s32"},
    {"IMNMX", "", "min.s32 max.s32 min.u32 max.u32"},
    {"VIMNMX", "", "min.s32 max.s32 min.u32 max.u32"},
    {"VIMNMX3", "", "vimax3.s32 vimin3.u32"},
    {"VIADDMNMX", "", "viaddmax.s32 viaddmin.s32"},
    {"IABS", "", "abs.s32"},
    {"SEL", "", "slct.b32 selp.b32"},
    {"PRMT", "", "prmt.b32"},
    {"POPC", "", "popc.b32"},
    {"FLO", "", "bfind.u32 clz.b32"},
    {"BREV", "", "brev.b32"},
    {"IDP", "4A", "dp4a.s32"},
    {"IDP", "2A", "dp2a.s32"},
    // conversions
    {"F2I", "S64", "cvt.rzi.s64.f64"},
    {"F2I", "F64", "cvt.rzi.s32.f64"},
    {"F2I", "U32", "cvt.rzi.u32.f32"},
    {"F2I", "", "cvt.rzi.s32.f32 cvt.rni.s32.f32"},
    {"I2F", "F64 S64", "cvt.rn.f64.s64"},
    {"I2F", "F64", "cvt.rn.f64.s32"},
    {"I2F", "U32", "cvt.rn.f32.u32"},
    {"I2F", "", "cvt.rn.f32.s32"},
    {"I2FP", "U32", "cvt.rn.f32.u32"},
    {"I2FP", "", "cvt.rn.f32.s32"},
    {"F2F", "F64 F32", "cvt.f64.f32"},
    {"F2F", "F32 F64", "cvt.rn.f32.f64"},
    {"F2F", "F16", "cvt.rn.f16.f32"},
    {"F2FP", "E4M3 F32", "cvt.rn.satfinite.e4m3x2.f32"},
    {"F2FP", "E5M2 F32", "cvt.rn.satfinite.e5m2x2.f32"},
    {"F2FP", "E4M3 SATFINITE", "cvt.rn.satfinite.e4m3x2.f16x2"},
    {"F2FP", "E5M2 SATFINITE", "cvt.rn.satfinite.e5m2x2.f16x2"},
    {"F2FP", "E4M3", "cvt.rn.f16x2.e4m3x2"},
    {"F2FP", "E5M2", "cvt.rn.f16x2.e5m2x2"},
    {"F2FP", "BF16", "cvt.rn.bf16x2.f32"},
    {"F2FP", "", "cvt.rn.f16x2.f32"},
    {"FRND", "F64", "cvt.rni.f64.f64 cvt.rmi.f64.f64"},
    {"FRND", "F16", "cvt.rni.f16.f16"},
    {"FRND", "BF16", "cvt.rni.bf16.bf16"},
    {"FRND", "", "cvt.rni.f32.f32 cvt.rmi.f32.f32"},
    // matrices
    {"HMMA", "16816 F32 BF16", "mma.m16n8k16.f32.bf16"},
    {"HMMA", "16816 F32", "mma.m16n8k16.f32.f16"},
    {"HMMA", "16816 F16", "mma.m16n8k16.f16.f16"},
    {"HMMA", "1688 F32 TF32", "mma.m16n8k8.f32.tf32"},
    {"HMMA", "1688 F32", "mma.m16n8k8.f32.f16"},
    {"IMMA", "16832", "mma.m16n8k32.s32.s8"},
    {"IMMA", "8816", "mma.m8n8k16.s32.s8"},
    {"DMMA", "8x8x4", "mma.m8n8k4.f64"},
    {"DMMA", "884", "mma.m8n8k4.f64"},
    {"LDSM", "MT88 4", "ldmatrix.x4.trans"},
    {"LDSM", "MT88", "ldmatrix.x1.trans"},
    {"LDSM", "4", "ldmatrix.x4"},
    {"LDSM", "2", "ldmatrix.x2"},
    {"LDSM", "", "ldmatrix.x1"},
    {"STSM", "MT88 4", "stmatrix.x4.trans"},
    {"STSM", "4", "stmatrix.x4"},
    {"STSM", "2", "stmatrix.x2"},
    {"STSM", "", "stmatrix.x1"},
    // memory
    {"LDG", "128", "ld.global.v4.f32 ld.global.v2.u64 ld.global.l2.v4.f32"},
    {"LDG", "64", "ld.global.u64 ld.global.v2.f32 ld.global.l2.u64"},
    {"LDG", "", "ld.global.f32 ld.global.u32"},
    {"LD", "", "ld.global.f32 ld.global.u32"},
    {"STG", "128", "st.global.v4.f32"},
    {"STG", "", "st.global.f32 st.global.u32"},
    {"ST", "", "st.global.f32 st.global.u32"},
    {"LDS", "128", "ld.shared.v4.u32"},
    {"LDS", "64", "ld.shared.v2.u32"},
    {"LDS", "", "ld.shared.u32 ld.shared.f32"},
    {"STS", "128", "st.shared.v4.u32"},
    {"STS", "64", "st.shared.v2.u32"},
    {"STS", "", "st.shared.u32 st.shared.f32"},
    {"LDL", "", "ld.local.u32"},
    {"STL", "", "st.local.u32"},
    {"LDC", "", "ld.const.u32"},
    {"LDGSTS", "128", "cp.async.x4"},
    {"LDGSTS", "", "cp.async.x1"},
    {"ATOMS", "CAS", "atom.shared.cas.b32"},
    {"ATOMS", "EXCH", "atom.shared.exch.b32"},
    {"ATOMS", "", "atom.shared.add.u32"},
    {"ATOMG", "CAS", "atom.global.cas.b32"},
    {"ATOMG", "EXCH", "atom.global.exch.b32"},
    {"ATOMG", "", "atom.global.add.u32"},
    {"ATOM", "", "atom.global.add.u32"},
    {"RED", "", "red.global.add.u32"},
    {"REDG", "", "red.global.add.u32"},
    // warps and groups
    {"SHFL", "UP", "shfl.sync.up.b32"},
    {"SHFL", "DOWN", "shfl.sync.down.b32"},
    {"SHFL", "BFLY", "shfl.sync.bfly.b32"},
    {"SHFL", "", "shfl.sync.idx.b32"},
    {"VOTE", "", "vote.sync.ballot.b32"},
    {"VOTEU", "", "vote.sync.ballot.b32"},
    {"MATCH", "", "match.any.sync.b32"},
    {"REDUX", "", "redux.sync.add.s32"},
    {"CREDUX", "", "redux.sync.add.s32"},
    {"BAR", "ARV", issue_slot},  // arrives and goes on
    {"BAR", "", "bar.sync"},
    // an issue slot
    {"MOV", "", issue_slot},
    {"CS2R", "", issue_slot},
    {"CS2UR", "", issue_slot},
    {"LEPC", "", issue_slot},
    {"S2R", "", issue_slot},
    {"S2UR", "", issue_slot},
    {"R2UR", "", issue_slot},
    {"B2R", "", issue_slot},
    {"P2R", "", issue_slot},
    {"R2P", "", issue_slot},
    {"PLOP3", "", issue_slot},
    {"NOP", "", issue_slot},
    {"BRA", "", issue_slot},
    {"BRX", "", issue_slot},
    {"BRXU", "", issue_slot},
    {"JMP", "", issue_slot},
    {"JMX", "", issue_slot},
    {"CALL", "", issue_slot},
    {"RET", "", issue_slot},
    {"EXIT", "", issue_slot},
    {"BSSY", "", issue_slot},
    {"BSYNC", "", issue_slot},
    {"BREAK", "", issue_slot},
    {"BMOV", "", issue_slot},
    {"WARPSYNC", "", issue_slot},
    {"YIELD", "", issue_slot},
    {"DEPBAR", "", issue_slot},
    {"LDGDEPBAR", "", issue_slot},
    {"ERRBAR", "", issue_slot},
    {"CGAERRBAR", "", issue_slot},
    {"MEMBAR", "", issue_slot},
    {"FENCE", "", issue_slot},
    {"CCTL", "", issue_slot},
    {"NANOSLEEP", "", issue_slot},
    {"ENDCOLLECTIVE", "", issue_slot},
    {"ACQBULK", "", issue_slot},
    {"PREEXIT", "", issue_slot},
};

}  // namespace

std::vector<std::string> profile_names(const isa::Instruction& instruction) {
    for (const MachineName& row : table) {
        if (row.opcode != instruction.opcode) continue;
        if (!std::ranges::all_of(words_in(row.modifiers),
                                 [&](std::string_view one) { return instruction.has(one); }))
            continue;
        const auto names = words_in(row.names);
        return {names.begin(), names.end()};
    }
    // One lane, and no throughput that anybody measured. Not all that begins with U is of it:
    // copies of bulks and matrix instructions of Blackwell are not.
    if (unit_of(instruction.opcode) == "uniform") return {std::string(issue_slot)};
    return {"machine." + lower_case(instruction.opcode)};
}

}  // namespace occupipe::extract
