# SPDX-License-Identifier: MIT
"""One kernel on every shipped GPU at every occupancy: which is fastest, and what limits it?

usage: python cheapest_device.py [KERNEL]
"""

from __future__ import annotations

import sys

import numpy as np

import occupipe


def fastest(kernel: occupipe.Kernel, profiles: list[occupipe.Profile]) -> list[tuple[str, int, float, str]]:
    """(GPU, groups at once, seconds, limited by) of each GPU's best occupancy, the fastest first."""
    group_warps = 4
    found = occupipe.predict_many(
        kernel,
        profiles,
        {"group_warps": group_warps, "concurrent_groups": np.arange(1, 17), "groups": 4096},
        invalid="mask",  # not every GPU holds 16 groups at once
    )
    best = []
    for place, name in enumerate(found.profiles):
        seconds = np.ma.MaskedArray(found.seconds[:, place, 0])
        if seconds.count() == 0:
            continue
        at = int(seconds.argmin())
        limiter = str(found.limited_by[at, place, 0])
        best.append((name, int(found.concurrent_groups[at]), float(seconds[at]), limiter))
    return sorted(best, key=lambda row: row[2])


def main(arguments: list[str]) -> None:
    kernel = occupipe.Kernel.load(arguments[0] if arguments else "mix")
    profiles = []
    for name in occupipe.shipped_profiles():
        profile = occupipe.Profile.load(name)
        try:
            occupipe.predict(kernel, profile)
        except occupipe.InputError as error:
            print(f"{profile.name}: {error}", file=sys.stderr)
        else:
            profiles.append(profile)
    for gpu, groups, seconds, limiter in fastest(kernel, profiles):
        print(f"{gpu:40} {groups:3} groups at once {seconds * 1e6:10.2f} us, limited by {limiter}")


if __name__ == "__main__":
    main(sys.argv[1:])
