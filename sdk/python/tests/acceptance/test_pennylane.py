"""PennyLane on a running platform."""

from __future__ import annotations

import math

import pytest

from ..support.needs import need_packages

need_packages("pennylane", "pennylane_qiskit")

from .live import connect  # noqa: E402

# isort: split
from ..test_pennylane import make_devices, measure  # noqa: E402


@pytest.mark.parametrize("name", ["qiskit.remote", "platform.qubit"])
def test_expectation_values_at_0_and_pi(name: str) -> None:
    device = make_devices(connect())[name]
    assert measure(device, 0) == pytest.approx([1, 1])
    assert measure(device, math.pi) == pytest.approx([-1, -1])
