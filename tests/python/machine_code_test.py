# SPDX-License-Identifier: MIT
"""Machine code in, and the roofline: what the program says, of recorded code (no compiler)."""

import pytest

import occupipe
from occupipe import Kernel, KernelCounts

COUNTS = ["fp32_fma", "fp64_fma", "fp32", "fp64", "integer", "load_store", "warp_instructions",
          "dram_read_sectors", "dram_write_sectors", "l2_sectors", "seconds"]  # fmt: skip

# What the papers' profile lacks.
USE = {"setp.lt.s32": "mul.f32", "mad.wide.u32": "mul.f32"}


@pytest.fixture(scope="module")
def code(root):
    kernels = root / "tests" / "kernels"
    return kernels / "recorded" / "sm_75" / "saxpy.cubin", kernels / "saxpy.yaml"


def test_extracted_kernel_is_the_programs(program, code, tmp_path):
    program("extract", code[0], "--launch", code[1], "--profile", "rtx-2070", "-o", tmp_path / "saxpy.yaml")
    found = occupipe.extract(*code, profile="rtx-2070")
    assert found.kernel == Kernel.load(tmp_path / "saxpy.yaml")
    told = program.json("extract", code[0], "--launch", code[1], "--profile", "rtx-2070", "--json")
    assert found.architecture == 75 and found.kernel.launch is not None and found.kernel.tells_memory
    assert 0 < found.groups_executed <= found.groups
    assert sum(sum(parts.values()) for parts in found.machine_instructions.values()) > 0
    assert told["memory"]["instructions"] if "instructions" in told["memory"] else told["memory"]


def test_its_prediction_is_the_programs(program, code, tmp_path):
    found = occupipe.extract(*code, profile="rtx-2070").kernel
    found.save(tmp_path / "saxpy.yaml")
    told = program.json("predict", tmp_path / "saxpy.yaml", "--profile", "rtx-2070", "--json",
                        *(f"--use={op}={other}" for op, other in USE.items()))["predictions"][0]  # fmt: skip
    one = occupipe.predict(found, "rtx-2070", use=USE)
    assert (told["cycles"], told["seconds"], told["limited_by"]) == (one.cycles, one.seconds, one.limited_by)
    assert told["assumptions"] == list(one.assumptions)
    many = occupipe.predict_many(found, "rtx-2070", [one.launch], ["pipeline", "roofline"], use=USE)
    assert many.cycles[0, 0, 0] == one.cycles
    assert many.cycles[0, 0, 1] == occupipe.predict(found, "rtx-2070", one.launch, "roofline", use=USE).cycles


def test_how_it_is_launched_can_be_said(root):
    cubin = root / "tests" / "kernels" / "recorded" / "sm_75" / "saxpy.cubin"
    found = occupipe.extract(cubin, kernel="saxpy", grid=4, block=(256,), cores=2, sample="all",
                             arguments="x=f32[1024]:iota y=f32[1024] out=f32[1024] f32:2.5 i32:1024")  # fmt: skip
    assert found.groups == found.groups_executed == 4 and found.standard_error == 0
    assert found.kernel.launch.group_warps == 8
    with pytest.raises(occupipe.InputError, match="how is it launched"):
        occupipe.extract(cubin)
    with pytest.raises(occupipe.InputError, match="no-such"):
        occupipe.extract("no-such.cubin", grid=1, block=32)
    with pytest.raises(occupipe.InputError, match="block"):
        occupipe.extract(cubin, grid=1, block=2048)
    with pytest.raises(occupipe.LimitReached):
        occupipe.extract(cubin, kernel="saxpy", grid=4, block=256, step_budget=10,
                         arguments="x=f32[1024]:iota y=f32[1024] out=f32[1024] f32:2.5 i32:1024")  # fmt: skip


def test_roofline_is_the_programs(program, code, tmp_path):
    counts = occupipe.executed_counts(*code)
    occupipe.save_counts(tmp_path / "counts.yaml", counts)
    assert occupipe.read_counts(tmp_path / "counts.yaml") == counts
    with pytest.raises(occupipe.InputError, match="exists"):
        occupipe.save_counts(tmp_path / "counts.yaml", counts)
    gpu = occupipe.Profile.load("gtx-1060")
    gpu["add.s32"] = gpu["fma.f32"].replace(name="add.s32", source="assumed", reference="as fma.f32")
    gpu.save(tmp_path / "gpu.yaml")
    profiles = ["rtx-2070", str(tmp_path / "gpu.yaml")]  # the first lacks rates
    told = program.json("roofline", tmp_path / "counts.yaml", "--profile", profiles[0], "--profile", profiles[1],
                        "--json")["predictions"]  # fmt: skip
    found = occupipe.roofline(tmp_path / "counts.yaml", profiles)
    assert len(told) == len(found) == 2
    assert [one.seconds is None for one in found] == [True, False]
    for entry, one in zip(told, found):
        assert (entry["kernel"], entry["device"], entry["model"]) == (one.kernel, one.device, one.model)
        assert entry["type"] == one.operation_type
        assert entry.get("missing", []) == list(one.missing)
        assert entry.get("seconds") == one.seconds
        if one.seconds is not None:
            assert (entry["operations"], entry["bytes"]) == (one.operations, one.traffic_bytes)
            assert (entry["bound"], entry["flips_at"]) == (one.bound, one.flips_at)
            assert (entry["e_mix"], entry["e_instr"]) == (one.mix_efficiency, one.instruction_efficiency)


def test_a_roofline_by_hand():
    # Peak of the only unit: 3 cores x 32 lanes / 2 cycles = 48 lane-instructions per cycle, twice
    # that in operations of multiply-adds; memory 3 x 32 x 4 bytes / 4 cycles = 96 bytes per cycle.
    profile = occupipe.Profile("by hand", cores=3, clock_hz=1e9)
    profile.subsystems = [occupipe.Subsystem("fp"), occupipe.Subsystem("memory")]
    for name, unit, cpi in [("fma.f32", "fp", 2), ("add.f32", "fp", 2), ("mad.s32", "fp", 2), ("add.s32", "fp", 2),
                            ("ld.shared.f32", "memory", 4), ("ld.global.f32", "memory", 4)]:  # fmt: skip
        profile[name] = occupipe.InstructionTiming(name, unit, cpi, 20)
    rates = {symbol: value for symbol, (value, _, _) in profile.rates().items()}
    assert rates["B_mem"] == pytest.approx(96) and rates["T_SP"] == pytest.approx(96)
    counts = KernelCounts("k", fp32_fma=1e6, fp32=1e6, fp64=0, fp64_fma=0, integer=0, load_store=0,
                          warp_instructions=1e6 / 32, dram_read_sectors=1e6, dram_write_sectors=0)  # fmt: skip
    (one,) = occupipe.roofline(counts, profile)
    assert one.operations == 2e6 and one.traffic_bytes == 32e6
    assert one.compute_seconds == pytest.approx(2e6 / 96e9)
    assert one.memory_seconds == pytest.approx(32e6 / 96e9) and one.bound == "memory"
    assert one.seconds == one.memory_seconds and one.intensity == 2e6 / 32e6


def test_what_was_not_counted_is_none():
    counts = KernelCounts("k", fp32=5)
    assert counts.fp32 == 5 and counts.fp64 is None and counts.seconds is None
    assert all(hasattr(counts, name) for name in COUNTS)
    with pytest.raises(occupipe.InputError) as caught:
        KernelCounts("k", fp16=5)
    assert caught.value.key == "fp16"
    with pytest.raises(occupipe.InputError, match="dram|traffic|not counted|missing|fp64|fp32|integer"):
        occupipe.roofline(counts, "rtx-2070")
