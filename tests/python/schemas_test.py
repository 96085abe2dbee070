# SPDX-License-Identifier: MIT
"""schemas/: every file of a format validates, and so does what the program writes; mistakes do not."""

import copy
import json
import re
from pathlib import Path

import pytest

jsonschema = pytest.importorskip("jsonschema")
ruamel_yaml = pytest.importorskip("ruamel.yaml")

ROOT = Path(__file__).resolve().parents[2]
SCHEMAS = {path.name.split(".")[0]: json.loads(path.read_text()) for path in (ROOT / "schemas").glob("*.json")}
LONGEST = 100_000  # bytes of a YAML file that is read here

# What the program accepts and YAML 1.2 does not: "{" in a plain scalar of a flow sequence.
ELSEWHERE = {"build", "out", "schemas"}  # what is made, and the schemas themselves
NOT_YAML = {"tests/fuzz/sweep_seeds/code.yaml"}


def format_of(text: str) -> str | None:
    """The schema of a file, by its content."""
    if re.search(r"^occupipe_launches:", text, re.MULTILINE):
        return "launches"
    if text.lstrip().startswith("{") and '"benchmarks"' in text:
        return "measurements"
    found = re.search(r"^\W*format\W+occupipe-([a-z-]+)/\d", text, re.MULTILINE)
    return found.group(1) if found and found.group(1) in SCHEMAS else None


def load(text: str):
    if text.lstrip().startswith("{\n") or text.lstrip().startswith('{"'):
        return json.loads(text)
    return ruamel_yaml.YAML(typ="safe", pure=True).load(text)


def of_formats() -> list[tuple[str, str]]:
    """Those of the repository, whether or not git is there to tell."""
    files = []
    for path in sorted([*ROOT.rglob("*.yaml"), *ROOT.rglob("*.json")]):
        name = path.relative_to(ROOT).as_posix()
        if name in NOT_YAML or name.split("/")[0] in ELSEWHERE or name.startswith("."):
            continue
        if path.suffix == ".yaml" and path.stat().st_size > LONGEST:
            continue
        kind = format_of(path.read_text(errors="replace"))
        if kind:
            files.append((kind, name))
    return files


def faults(kind: str, value) -> list[str]:
    validator = jsonschema.Draft202012Validator(SCHEMAS[kind])
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(value)]


@pytest.mark.parametrize("kind", sorted(SCHEMAS))
def test_schema_is_one(kind):
    jsonschema.Draft202012Validator.check_schema(SCHEMAS[kind])
    assert SCHEMAS[kind]["title"]


def test_every_file_of_a_format_validates():
    files = of_formats()
    counts = dict.fromkeys(SCHEMAS, 0)
    for kind, name in files:
        value = load((ROOT / name).read_text())
        if kind == "measurements":  # thousands of rows that are alike
            value["benchmarks"] = value["benchmarks"][:: max(1, len(value["benchmarks"]) // 50)]
        assert not faults(kind, value)[:1], name
        counts[kind] += 1
    for kind in ("profile", "kernel", "launches", "measurements", "workload", "sweep", "program"):
        assert counts[kind] > 0, kind


def examples() -> list[tuple[str, object]]:
    found = []
    for page in sorted((ROOT / "docs/reference/file-formats").glob("*.md")):
        for text in re.findall(r"```(?:yaml|json)\n(.*?)```", page.read_text(), re.DOTALL):
            kind = format_of(text)
            assert kind, f"{page}: {text[:60]}"
            found.append((kind, load(text)))
    return found


def test_the_documentation_s_examples_validate():
    kinds = set()
    for kind, value in examples():
        assert not faults(kind, value)[:1], kind
        kinds.add(kind)
    assert kinds >= {"profile", "card", "kernel", "kernel-parameters", "launches", "measurements", "sweep", "space",
                     "workload", "prediction", "comparison"}  # fmt: skip


def test_what_the_program_writes_validates(program, measured, tmp_path):
    def written(kind, *words):
        assert not faults(kind, program.json(*words))[:1], words

    written("prediction", "predict", "saxpy", "--profile", "gtx-1060", "--model", "all", "--json")
    written("table", "table", "a100", "rtx-2070", "--format", "json")
    written("comparison", "compare", measured, "--profile", ROOT / "profiles/nvidia-gtx-1060.yaml", "--json")
    assert not faults("measurements", json.loads(measured.read_text()))[:1]
    profile = tmp_path / "fitted.yaml"
    program("fit", measured, "-o", profile)
    assert not faults("profile", load(profile.read_text()))[:1]
    code = ["tests/suite/recorded/sm_75/reduction.cubin", "--kernel", "reduction", "--grid", "7", "--block", "256",
            "--args", "in=f32[10000] sums=f32[7] i32:10000"]  # fmt: skip
    code[0] = str(ROOT / code[0])
    written("execution", "execute", *code, "--json", "-")
    kernel = tmp_path / "kernel.yaml"
    program("extract", *code, "-o", kernel)
    assert not faults("kernel", load(kernel.read_text()))[:1]


# Mistakes: a key to change, and what to; None removes it.
MISTAKES = {
    "profile": [("cores", 0), ("clock_hz", "1 GHz"), ("instructions.fma.f32.cpi", -1),
                ("instructions.fma.f32.latency", None), ("instructions.fma.f32.latancy", 6),
                ("issue.policy", "fifo"), ("subsystems.alu.scope", "warp"), ("limits.warps", 1.5),
                ("instructions.ld.global.f32.cpi.std_error", -1)],
    "card": [("compute_capability", "5.0"), ("cores", 0), ("l2_bytes", None)],
    "kernel": [("instructions.0.op", None), ("instructions.1.after", ["a b"]), ("launch.groups", 0),
               ("order", "random"), ("instructions.2.repeat", 0), ("instructions.2.body", [])],
    "kernel-parameters": [("kernels.0.kernel", None), ("kernels.0.fp32", -1), ("kernels.0.fp16", 1)],
    "launches": [("occupipe_launches", 2), ("buffers.now.type", "f8"), ("buffers.now.count", 0),
                 ("launches.0.grid", [1, 1, 1, 1]), ("launches.0.kernel", None), ("launches.1.repeat", 0)],
    "measurements": [("benchmarks.0.name", None), ("benchmarks.0.chains", 0), ("benchmarks.0.cycles", -1),
                     ("benchmarks.0.time_unit", "min"), ("benchmarks.0.real_time", None), ("more", {})],
    "sweep": [("profiles", None), ("launches.group_warp", [4]), ("set.issue.limit", {"from": 1})],
    "space": [("tunables", None), ("problem_size", None), ("arguments.0.type", "float"), ("block", [])],
    "workload": [("operations.total", None), ("reuse.0.unit_bytes", 7), ("loops.0.kind", "maybe")],
    "prediction": [("format", "occupipe-prediction/2"), ("predictions.0.cycles", -1), ("predictions.0.bounds", None)],
    "comparison": [("accuracy.0.model", None), ("points.0.predicted_cycles", {"pipeline": "6144"})],
}  # fmt: skip


def changed(value, path: str, to):
    """The value with one key changed. Keys may contain dots: the longest that is there counts."""
    result = copy.deepcopy(value)
    place, words = result, path.split(".")
    while len(words) > 1:
        if isinstance(place, list):
            place, words = place[int(words[0])], words[1:]
            continue
        length = next((n for n in range(len(words) - 1, 0, -1) if ".".join(words[:n]) in place), 0)
        if length == 0:
            break
        place, words = place[".".join(words[:length])], words[length:]
    key = int(words[0]) if isinstance(place, list) else ".".join(words)
    if to is None:
        del place[key]
    else:
        place[key] = to
    return result


def test_mistakes_are_refused():
    first = {}
    for kind, value in examples():
        first.setdefault(kind, value)
    for kind, mistakes in MISTAKES.items():
        for path, to in mistakes:
            assert faults(kind, changed(first[kind], path, to)), f"{kind}: {path} = {to} was accepted"
        for key in SCHEMAS[kind]["required"]:
            assert faults(kind, changed(first[kind], key, None)), f"{kind}: accepted without {key}"
        if SCHEMAS[kind].get("additionalProperties") is False:
            assert faults(kind, {**first[kind], "another_key": 1}), f"{kind}: accepted an unknown key"
