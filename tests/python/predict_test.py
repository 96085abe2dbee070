# SPDX-License-Identifier: MIT
"""Predictions: those of the program, closed forms, and arrays that equal the single ones."""

import os
import random
import signal
import threading

import numpy as np
import pytest

import occupipe
from occupipe import Instruction, Kernel, Launch, Profile, Repeat, predict, predict_many

NUMBERS = ["cycles", "seconds", "warps_per_cycle", "cycles_per_run", "instructions_per_cycle", "groups_per_core"]


def same_as(program_entry: dict, found: occupipe.Prediction) -> None:
    assert program_entry["model"] == found.model
    for name in NUMBERS:
        if name in program_entry:
            assert program_entry[name] == getattr(found, name), name  # exactly
    assert program_entry["limited_by"] == found.limited_by
    assert program_entry.get("assumptions", []) == list(found.assumptions)


@pytest.mark.parametrize("kernel", ["saxpy", "mix", "matmul_tiled", "barriers", "stencil"])
@pytest.mark.parametrize("profile", ["rtx-2070", "gtx-1060"])
def test_one_is_what_the_program_says(program, kernel, profile):
    told = program.json("predict", kernel, "--profile", profile, "--model", "all", "--json")
    entries = told["predictions"]
    assert [entry["model"] for entry in entries] == list(occupipe.models())
    for entry in entries:
        same_as(entry, predict(kernel, profile, model=entry["model"]))


def test_options_are_the_programs(program):
    told = program.json("predict", "mix", "--profile", "gtx-1060", "--set", "fma.f32.latency=8", "--set",
                        "issue.limit=none", "--group-warps", 2, "--concurrent-groups", 8, "--groups", 1000,
                        "--policy", "gto", "--order", "in_order", "--json")  # fmt: skip
    found = predict("mix", "gtx-1060", (2, 8, 1000), policy="gto", order="in_order",
                    changes={"fma.f32.latency": 8, "issue.limit": None})  # fmt: skip
    same_as(told["predictions"][0], found)


def test_occupancies_are_the_programs(program):
    told = program.json("predict", "mix", "--profile", "rtx-2070", "--occupancy", "all", "--json")["predictions"]
    launches = occupipe.occupancies("mix", "rtx-2070")
    found = predict_many("mix", "rtx-2070", launches)
    assert found.shape == (len(told), 1, 1)
    assert [entry["cycles"] for entry in told] == found.cycles[:, 0, 0].tolist()
    assert [entry["limited_by"] for entry in told] == found.limited_by[:, 0, 0].tolist()


@pytest.mark.parametrize(
    "launch", [(1.9, 1, 1), ("2", 1, 1), "211", (10**30, 1, 1), (1, 1, 10**30), (1, 1), (1, 1, 1, 1), (1, None, 1), 7]
)
def test_a_launch_is_three_whole_numbers(launch):
    with pytest.raises(occupipe.InputError, match="launch") as one:
        predict("saxpy", "rtx-2070", launch)
    assert one.value.key == "launch"
    with pytest.raises(occupipe.InputError, match="launch"):
        predict_many("saxpy", "rtx-2070", [launch])


def test_a_launch_takes_the_whole_numbers_of_numpy():
    expected = predict("saxpy", "rtx-2070", Launch(2, 3, 400))
    assert predict("saxpy", "rtx-2070", np.array([2, 3, 400])).cycles == expected.cycles


def chain(n: int) -> Kernel:
    return Kernel("chain", [Repeat(n, [Instruction("fma.f32", "a", ["a@-1"])])])


def gpu(cpi: float, latency: float) -> Profile:
    profile = Profile("one unit", cores=3, clock_hz=1e9)
    profile.subsystems = [occupipe.Subsystem("fp")]
    profile["fma.f32"] = occupipe.InstructionTiming("fma.f32", "fp", cpi, latency)
    return profile


def test_a_subsystem_without_a_scope_has_none():
    assert occupipe.Subsystem("fp").scope is None


@pytest.mark.parametrize("warps", [1, 3, 5, 6, 20])
def test_a_chain_takes_what_the_law_says(warps):
    # W warps of one chain of N: Λ + (W−1)λ + (N−1)·max(Λ, Wλ) (docs/background/pipeline-model.md, "The boat hull").
    n, cpi, latency = 200, 2, 12
    expected = latency + (warps - 1) * cpi + (n - 1) * max(latency, warps * cpi)
    found = predict(chain(n), gpu(cpi, latency), Launch(1, warps, 3 * warps))
    assert found.cycles == expected
    assert found.seconds == expected / 1e9


def test_arrays_equal_the_single_ones():
    chance = random.Random(3)
    launches = [
        Launch(chance.randint(1, 8), chance.randint(1, 4), chance.randint(1, 5000)) for _ in range(25)
    ]
    profiles = [Profile.load("gtx-1060"), Profile.load("rtx-2070")]
    models = ["pipeline", "roofline", "volkov"]
    found = predict_many("mix", profiles, launches, models)
    assert found.shape == (25, 2, 3) == found.cycles.shape
    for i, launch in enumerate(launches):
        for j, profile in enumerate(profiles):
            for k, model in enumerate(models):
                one = predict("mix", profile, launch, model)
                for name in NUMBERS:
                    assert getattr(found, name)[i, j, k] == getattr(one, name)
                assert found.limited_by[i, j, k] == one.limited_by
    assert type(found.cycles) is np.ndarray and found.errors == {}
    assert found.estimate_error.mask.all()


def test_threads_do_not_show():
    columns = {"group_warps": 2, "concurrent_groups": np.arange(1, 13), "groups": 999}
    all_models = list(occupipe.models())[:5]
    runs = [predict_many("saxpy", ["rtx-2070", "gtx-1060"], columns, all_models, threads=n, invalid="mask")
            for n in (1, 2, 5)]  # fmt: skip
    for other in runs[1:]:
        for name in [*NUMBERS, "limiter"]:
            assert np.array_equal(np.ma.getdata(getattr(runs[0], name)), np.ma.getdata(getattr(other, name)))
        assert other.limiters == runs[0].limiters and other.errors == runs[0].errors


def test_what_is_impossible_is_masked_with_its_reason():
    columns = {"group_warps": 4, "concurrent_groups": [1, 2, 1000]}
    with pytest.raises(occupipe.InputError, match="exceeds the limit"):
        predict_many("mix", "rtx-2070", columns)
    found = predict_many("mix", "rtx-2070", columns, invalid="mask")
    assert found.cycles.mask[:, 0, 0].tolist() == [False, False, True]
    assert list(found.errors) == [(2, 0, 0)] and "exceeds the limit" in found.errors[2, 0, 0]
    assert found.limited_by[2, 0, 0] is None
    table = found.to_pandas()
    assert table["cycles"].isna().tolist() == [False, False, True]
    assert table["cycles"][1] == found.cycles[1, 0, 0]
    assert "exceeds the limit" in found._repr_html_()
    filled = predict("mix", "rtx-2070", (4, 2, 2 * Profile.load("rtx-2070").cores))
    assert found.cycles[1, 0, 0] == filled.cycles  # without groups every core is filled once


def test_columns_are_read_where_they_are_and_checked():
    from occupipe._predict import _columns

    kept = np.array([1, 2, 3], dtype=np.int64)
    found, _, groups = _columns({"group_warps": kept, "concurrent_groups": 2})
    assert np.shares_memory(found, kept) and groups.tolist() == [0, 0, 0]
    for bad in ({"group_warps": [1.5], "concurrent_groups": [1]}, {"group_warps": [1]},
                {"group_warps": [0], "concurrent_groups": [1]}):  # fmt: skip
        with pytest.raises(occupipe.InputError):
            predict_many("mix", "rtx-2070", bad)
    assert predict_many("mix", "rtx-2070", []).shape == (0, 1, 1)


def test_errors_name_the_kernel():
    with pytest.raises(occupipe.InputError, match="lacks|no entry|has no"):
        predict(Kernel("odd", [Instruction("no.such.op", "a")]), "rtx-2070")
    with pytest.raises(occupipe.InputError, match="pipeline"):
        predict("mix", "rtx-2070", model="no-such-model")
    with pytest.raises(occupipe.InputError, match="shipped kernel"):
        predict("no-such-kernel", "rtx-2070")


def endless() -> tuple[Kernel, Profile, Launch]:
    """So long that only a signal or a limit ends it: its periods are long."""
    kernel = Kernel.load("bodies")
    first, second, *rest = kernel.programs[0].instructions
    kernel.programs = [occupipe.WarpProgram([first, second.replace(count=10**9), *rest])]
    return kernel, Profile.load("gtx-1060"), Launch(8, 4, 10**6)


GREEDY = {"policy": "gto", "order": "in_order"}


def test_a_limit_ends_it():
    kernel, profile, launch = endless()
    with pytest.raises(occupipe.LimitReached):
        predict(kernel, profile, launch, max_simulated=100_000, **GREEDY)


@pytest.mark.parametrize("many", [False, True])
def test_ctrl_c_ends_it_and_other_threads_run_meanwhile(many):
    kernel, profile, launch = endless()
    entered = threading.Event()

    def interrupt() -> None:
        entered.wait()
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        entered.set()
        if many:
            predict_many(kernel, profile, [launch] * 4, **GREEDY)
        else:
            predict(kernel, profile, launch, **GREEDY)
    thread.join()
    assert predict("mix", "rtx-2070").cycles > 0  # nothing is left behind


@pytest.mark.parametrize(
    ("key", "call"),
    [
        ("model", lambda: occupipe.predict("saxpy", "rtx-2070", model="pipelin")),
        ("model", lambda: occupipe.predict_many("saxpy", "rtx-2070", [(1, 1, 1)], ["nope"])),
        ("launch", lambda: occupipe.predict("saxpy", "rtx-2070", (8, 2000, 1))),
        ("changes", lambda: occupipe.predict("saxpy", "rtx-2070", changes={"fma.f32.latencies": 3})),
        ("use", lambda: occupipe.predict("saxpy", "rtx-2070", use={"xx": "fma.f32"})),
        ("assume_latency", lambda: occupipe.predict("saxpy", "rtx-2070", assume_latency=["gma"])),
        (
            "launches",
            lambda: occupipe.predict_many(
                "saxpy", "rtx-2070", {"group_warps": [1, 2], "concurrent_groups": [1, 2, 3]}
            ),
        ),
    ],
)
def test_what_is_wrong_says_which_argument(key, call):
    with pytest.raises(occupipe.InputError) as caught:
        call()
    assert caught.value.key == key and key in str(caught.value)
