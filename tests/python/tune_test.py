# SPDX-License-Identifier: MIT
"""Search spaces: what the program ranks, of recorded code (no compiler)."""

from types import SimpleNamespace

import pytest

import occupipe
import occupipe.kernel_tuner

GPU = "rtx-2080-ti"  # of the shelf, with instructions of sm_75

SPACE = """format: occupipe-space/1
source: {cubin}
kernel: saxpy
tunables: {{block: [64, 128, 256, 2048], groups: [4, 8]}}
restrictions: [block * groups >= 512]
block: block
grid: groups
arguments:
  - {{name: x, type: f32, size: 4096, fill: iota}}
  - {{name: y, type: f32, size: 4096}}
  - {{name: out, type: f32, size: 4096}}
  - {{name: a, type: f32, value: 2.5}}
  - {{name: n, type: i32, value: 1024}}
"""


@pytest.fixture
def space(root, tmp_path):
    file = tmp_path / "space.yaml"
    file.write_text(SPACE.format(cubin=root / "tests" / "kernels" / "recorded" / "sm_75" / "saxpy.cubin"))
    return file


def test_ranks_as_the_program_does(program, space):
    told = program.json("tune", space, "--profile", GPU, "--top", "2", "--json")
    found = occupipe.tune(space, GPU, top=2)
    assert found.kernel == "saxpy" and found.in_space == told["configurations"] == 7
    ranked = [one for one in found.configurations if one.rank is not None]
    assert [one.tunables for one in ranked] == [one["configuration"] for one in told["ranked"]]
    assert [one.seconds for one in ranked] == [one["predicted_seconds"] for one in told["ranked"]]
    assert [one.to_measure for one in ranked] == [one.get("measure", False) for one in told["ranked"]]
    assert len(found.top) == 2 and found.best is ranked[0]
    refused = found.configurations[len(ranked) :]
    assert [one.refused for one in refused] == ["shape", "shape"]
    assert all(one.rank is None and one.expected is None and "2048" in one.reason for one in refused)
    assert found.clock_factor is None and set(found.importance) == {"block", "groups"}


def test_measured_times_rank_anew(space, tmp_path):
    (tmp_path / "times.csv").write_text("block,groups,time_us\n256,4,90\n128,8,70\n")
    found = occupipe.tune(space, GPU, measured=tmp_path / "times.csv", top=1)
    assert found.clock_factor > 0 and found.clock_error > 0
    for one in found.configurations:
        if one.measured is None and one.rank is not None:
            assert one.expected == pytest.approx(found.clock_factor * one.seconds["pipeline"])
    assert found.top[0].measured is None


def test_as_a_table(space):
    pandas = pytest.importorskip("pandas")
    table = occupipe.tune(space, GPU, draws=3, journal=space.with_suffix(".journal")).to_pandas()
    assert isinstance(table, pandas.DataFrame) and len(table) == 3
    assert str(table["block"].dtype) == "Int64" and table["measured_seconds"].isna().all()
    assert space.with_suffix(".journal").exists()


def test_a_budget_leaves_the_rest_coarse(space):
    exact = occupipe.tune(space, GPU)
    found = occupipe.tune(space, GPU, budget=1e-9)
    ranked = [one for one in found.configurations if one.rank is not None]
    assert len(ranked) == 5 and all(one.coarse is not None and not one.seconds for one in ranked)
    assert all(one.coarse is None for one in exact.configurations)
    enough = occupipe.tune(space, GPU, budget=600)
    assert [one.seconds for one in enough.configurations] == [one.seconds for one in exact.configurations]


def test_bad_input_is_named(space):
    with pytest.raises(occupipe.InputError, match="budget"):
        occupipe.tune(space, GPU, budget=0)
    with pytest.raises(occupipe.InputError, match="draws"):
        occupipe.tune(space, GPU, draws=0)
    with pytest.raises(occupipe.InputError, match="no-such"):
        occupipe.tune("no-such.yaml", GPU)
    space.write_text("format: occupipe-space/1\n")
    with pytest.raises(occupipe.InputError) as raised:
        occupipe.tune(space, GPU)
    assert raised.value.line == 1 and raised.value.key == "source"


def test_shards_are_the_whole(space, tmp_path):
    whole = occupipe.tune(space, GPU)
    journals = [tmp_path / f"{i}.journal" for i in (1, 2, 3)]
    parts = [occupipe.tune(space, GPU, shard=(i, 3), journal=journals[i - 1]) for i in (1, 2, 3)]
    assert sum(len(one.configurations) for one in parts) == len(whole.configurations)
    assert occupipe.tune(space, GPU, join=journals).configurations == whole.configurations
    assert occupipe.tune(space, GPU, join=journals[:1]).configurations == whole.configurations
    with pytest.raises(occupipe.InputError, match="shard"):
        occupipe.tune(space, GPU, shard=(4, 3))


def test_order_for_kernel_tuner(space):
    tuned = occupipe.tune(space, GPU, top=2)
    values = {"groups": [4, 8, 16], "block": [64, 128, 256, 2048]}
    every = [(groups, block) for groups in values["groups"] for block in values["block"] if block * groups >= 512]
    order = occupipe.kernel_tuner.PredictedOrder(tuned).order(SimpleNamespace(tune_params=values, list=every))
    assert sorted(order) == sorted(every)
    pairs = lambda some: [(one.tunables["groups"], one.tunables["block"]) for one in some]  # noqa: E731
    assert order[:2] == pairs(tuned.top)
    ranked = pairs(one for one in tuned.configurations if one.rank is not None and not one.to_measure)
    assert order[2 : 2 + len(ranked)] == ranked
    assert {one[0] for one in order[2 + len(ranked) : -2]} == {16}  # not in the ranked space
    assert {one[1] for one in order[-2:]} == {2048}  # refused
    with pytest.raises(occupipe.InputError, match="no tunable 'bx'"):
        occupipe.kernel_tuner.PredictedOrder(tuned).order(SimpleNamespace(tune_params={"bx": [1]}, list=[(1,)]))
    with pytest.raises(occupipe.InputError, match="in common"):
        other = {"block": [32], "groups": [1]}
        occupipe.kernel_tuner.PredictedOrder(tuned).order(SimpleNamespace(tune_params=other, list=[(32, 1)]))
