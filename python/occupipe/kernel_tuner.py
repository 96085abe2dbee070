# SPDX-License-Identifier: MIT
"""Kernel Tuner (https://kerneltuner.github.io) measures in the order of predicted times.

>>> tuned = occupipe.tune("convolution.json", "a100", top=20)
>>> kernel_tuner.tune_kernel(…, strategy=occupipe.kernel_tuner.strategy(tuned), strategy_options={"max_fevals": 20})
"""

from __future__ import annotations

from typing import Any, Hashable

from ._errors import InputError
from ._optional import need
from ._tune import Configuration, Tuned

__all__ = ["PredictedOrder", "strategy"]


class PredictedOrder:
    """An optimizer for Kernel Tuner's ``OptAlgWrapper``: measures one configuration after the other.

    First come those to measure (:attr:`Tuned.top`), then the others by rank, then those without a
    prediction, at last those that the compiler or the GPU's limits refuse, until the budget of ``strategy_options``
    (``max_fevals``, ``time_limit``) is spent.
    """

    costfunc_kwargs = {"scaling": False, "snap": False}
    constraint_aware = False

    def __init__(self, tuned: Tuned) -> None:
        self.tuned = tuned

    def order(self, searchspace: Any) -> list[tuple[Any, ...]]:
        """All configurations of Kernel Tuner's space, best first.

        Raises InputError where the two spaces have no configuration in common.
        """
        names = list(searchspace.tune_params)
        places: dict[Hashable, tuple[int, int]] = {}
        for place, one in enumerate(self.tuned.configurations):
            try:
                key = tuple(one.tunables[name] for name in names)
            except KeyError as missing:
                raise InputError(f"the ranked space has no tunable {missing}") from None
            places[key] = (_class(one), place)
        unknown = (2, 0)
        every = list(searchspace.list)
        if not any(tuple(one) in places for one in every):
            raise InputError("the ranked space and Kernel Tuner's have no configuration in common")
        return sorted(every, key=lambda one: places.get(tuple(one), unknown))

    def __call__(self, func: Any, searchspace: Any) -> None:
        for one in self.order(searchspace):
            func(one, check_restrictions=False)


def _class(one: Configuration) -> int:
    if one.rank is not None:
        return 0 if one.to_measure else 1
    return 2 if one.refused == "prediction" else 3


def strategy(tuned: Tuned) -> Any:
    """What ``kernel_tuner.tune_kernel(strategy=…)`` takes. Raises MissingPackage."""
    return need("kernel_tuner.strategies.wrapper", "the strategy").OptAlgWrapper(PredictedOrder(tuned))
