// SPDX-License-Identifier: MIT
#include "extract/units.h"

namespace occupipe::extract {
namespace {

struct Unit {
    std::string_view name;
    std::string_view opcodes;  // each between blanks
};

constexpr Unit units[] = {
    {"float", " FADD FADD2 FFMA FFMA2 FMUL FMUL2 FMNMX FMNMX3 FSEL FSETP FCHK FHADD FSET FSWZADD "},
    {"integer",
     " BMSK BREV FLO IABS IADD IADD3 IDP IMAD IMNMX ISETP LEA LOP3 PLOP3 POPC SGXT SHF VABSDIFF "
     "VABSDIFF4 VIADD VIADDMNMX VIMNMX VIMNMX3 "},
    {"half", " HADD2 HFMA2 HMNMX2 HMUL2 HSET2 HSETP2 QADD4 QFMA4 QMUL4 VHMNMX "},
    {"double", " DADD DFMA DMUL DSETP "},
    {"conversion", " F2F F2FP F2I FRND I2F I2FP I2I F2IP I2IP "},
    {"function", " MUFU "},
    {"matrix", " BMMA DMMA HMMA IMMA HGMMA IGMMA OMMA QGMMA QMMA MOVM WARPGROUP BGMMA "},
    {"memory",
     " LD LDC LDG LDGDEPBAR LDGSTS LDL LDS LDSM ST STG STL STS STSM TEX TLD TLD4 TMML TXD TXQ SULD "
     "SUST SURED SUATOM CCTL CCTLL UBLKCP LDGMC "
     "STAS UBLKPF UBLKRED UTMACCTL UTMACMDFLUSH UTMALDG UTMAPF UTMAREDG UTMASTG "},
    {"atomic", " ATOM ATOMG ATOMS RED REDG REDAS "},
    {"collective", " MATCH SHFL VOTE VOTEU REDUX CREDUX ELECT "},
    {"control",
     " BAR BPT BRA BREAK BRX BRXU BSSY BSYNC CALL CGAERRBAR DEPBAR ENDCOLLECTIVE ERRBAR EXIT FENCE "
     "MEMBAR NANOSLEEP "
     "NOP RET SYNCS UCGABAR WARPSYNC YIELD ACQBULK ACQSHMINIT ARRIVES CSMTEST PMTRIG PREEXIT "
     "UGETNEXTWORKID "},
    {"move", " MOV PRMT SEL S2R S2UR CS2R CS2UR P2R R2P R2UR B2R BMOV LEPC QSPC RPCMOV "},
    {"uniform",
     " LDCU UBMSK UBREV UFADD UFLO UFMUL UFFMA UFSEL UFSETP UI2F UIADD3 UIMAD UISETP ULDC ULEA "
     "ULOP3 "
     "UMOV "
     "UPLOP3 UPOPC UPRMT USEL USGXT USHF UVIMNMX UF2I UI2FP UMEMSETS UP2UR UR2UP UVIRTCOUNT "},
};

bool holds(std::string_view list, std::string_view word) {
    for (std::size_t at = list.find(word); at != std::string_view::npos;
         at = list.find(word, at + 1))
        if (list[at - 1] == ' ' && list[at + word.size()] == ' ') return true;
    return false;
}

}  // namespace

std::string_view unit_of(std::string_view opcode) {
    // "HMMA.SP" is in the table of encodings as one name.
    opcode = opcode.substr(0, opcode.find('.'));
    if (opcode.empty()) return "unknown";
    for (const Unit& unit : units)
        if (holds(unit.opcodes, opcode)) return unit.name;
    return "unknown";
}

}  // namespace occupipe::extract
