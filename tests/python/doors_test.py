# SPDX-License-Identifier: MIT
"""One question through Python's door: cycles and notes of `occupipe predict` (tests/ask/six_doors_test.cpp)."""

import random

import pytest

import occupipe

GRAPHS = ["saxpy", "mix", "stream", "barriers", "matmul_tiled", "rotation", "transpose", "example"]
USE = {"example": {"compute": "fma.f32", "memory": "ld.global.s32"}}


def ask(chance):
    """A question as keywords of Python and as options of the program."""
    kernel = chance.choice(GRAPHS)
    words, keywords = [], {}
    use = USE.get(kernel, {})
    if use:
        keywords["use"] = use
        words += [word for op, other in use.items() for word in ("--use", f"{op}={other}")]
    settings = {"ld.global.s32.latency": [100.5, 900], "issue.limit": [1, 3.75, None], "cores": [1, 17],
                "clock_hz": [1e9]}  # fmt: skip
    if use:
        settings["compute.latency"] = [9, 400]
    changes = {name: chance.choice(values) for name, values in settings.items() if chance.random() < 0.3}
    if changes:
        keywords["changes"] = changes
        words += [w for n, v in changes.items() for w in ("--set", f"{n}={'none' if v is None else repr(v)}")]
    for name, option, values in [
        ("memory", "--memory", ["none", "per-access"]),
        ("policy", "--policy", ["gto", "oldest"]),
        ("select", "--select", ["warp"]),
        ("order", "--order", ["in_order"]),
        ("assume_latency", "--assume-latency", [["fma"]]),
    ]:
        if chance.random() < 0.25:
            keywords[name] = chance.choice(values)
            words += [option, keywords[name][0] if isinstance(keywords[name], list) else keywords[name]]
    if chance.random() < 0.3:
        keywords["launch"] = (2, 3, 60)
        words += ["--group-warps", 2, "--concurrent-groups", 3, "--groups", 60]
    return kernel, words, keywords


@pytest.mark.parametrize("seed", range(20))
def test_graphs(program, seed):
    chance = random.Random(seed)
    for _ in range(2):
        kernel, words, keywords = ask(chance)
        profile = chance.choice(["rtx-2070", "gtx-1060", "gtx-650-ti"])
        try:
            found = occupipe.predict(kernel, profile, **keywords)
        except occupipe.InputError:
            with pytest.raises(AssertionError):
                program("predict", kernel, "--profile", profile, "--json", *words)
            continue
        one = program.json("predict", kernel, "--profile", profile, "--json", *words)["predictions"][0]
        assert (one["cycles"], one["assumptions"]) == (found.cycles, list(found.assumptions)), (kernel, words)


def test_machine_code_finds_reuse_for_each_launch(program, root):
    """Of an extraction; its kernel alone keeps the reuse of its own launch, and says so."""
    kernels = root / "tests" / "kernels"
    code = kernels / "recorded" / "sm_75" / "saxpy.cubin", kernels / "saxpy.yaml"
    use = {"setp.lt.s32": "mul.f32", "mad.wide.u32": "mul.f32"}
    found = occupipe.extract(*code, profile="rtx-2070")
    own = found.kernel.launch
    for at_once in (1, own.concurrent_groups):
        one = program.json("predict", code[0], "--launch", code[1], "--profile", "rtx-2070", "--json",
                           "--concurrent-groups", at_once,
                           *(f"--use={op}={other}" for op, other in use.items()))["predictions"][0]  # fmt: skip
        launch = (own.group_warps, at_once, own.groups)
        made = occupipe.predict(found, "rtx-2070", launch, use=use)
        assert (one["cycles"], one["assumptions"]) == (made.cycles, list(made.assumptions))
        many = occupipe.predict_many(found, "rtx-2070", [launch], ["pipeline"], use=use)
        assert many.cycles[0, 0, 0] == made.cycles
    kept = occupipe.predict(found.kernel, "rtx-2070", (own.group_warps, 1, own.groups), use=use)
    assert any(note.startswith("reuse was found for") for note in kept.assumptions)


def test_machine_code_of_another_architecture_says_so(root):
    kernels = root / "tests" / "kernels"
    found = occupipe.extract(kernels / "recorded" / "sm_75" / "saxpy.cubin", kernels / "saxpy.yaml", cores=10)
    use = {"setp.lt.s32": "mul.f32", "mad.s32": "mul.f32", "mad.wide.u32": "mul.f32"}
    made = occupipe.predict(found, "gtx-1060", use=use)
    assert any("the code is of sm_75" in note for note in made.assumptions)
