# SPDX-License-Identifier: MIT
"""Kernel Tuner itself, in its simulation mode, where it is installed (pip install kernel_tuner)."""

import pytest
from tune_test import GPU, SPACE

import occupipe
import occupipe.kernel_tuner


def test_measures_in_predicted_order(root, tmp_path, program):
    kernel_tuner = pytest.importorskip("kernel_tuner")
    space = tmp_path / "space.yaml"
    text = SPACE.format(cubin=root / "tests" / "kernels" / "recorded" / "sm_75" / "saxpy.cubin")
    space.write_text(text + "problem_size: [1024]\n")
    program("tune", space, "--profile", GPU, "--format", "kernel-tuner", "-o", tmp_path / "cache.json")
    tuned = occupipe.tune(space, GPU, top=2)
    results, _ = kernel_tuner.tune_kernel(
        "saxpy", "__global__ void saxpy() {}", [1024], [], {"block": [64, 128, 256, 2048], "groups": [4, 8]},
        restrictions=["block * groups >= 512"], block_size_names=["block"], lang="CUDA", quiet=True,
        simulation_mode=True, cache=str(tmp_path / "cache.json"),
        strategy=occupipe.kernel_tuner.strategy(tuned), strategy_options={"max_fevals": 4},
    )  # fmt: skip
    ranked = [one for one in tuned.configurations if one.rank is not None]
    expected = tuned.top + [one for one in ranked if not one.to_measure]
    assert [(one["block"], one["groups"]) for one in results] == [
        (one.tunables["block"], one.tunables["groups"]) for one in expected[:4]
    ]
    assert [one["time"] for one in results] == pytest.approx([1e3 * one.expected for one in expected[:4]])
