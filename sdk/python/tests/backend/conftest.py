"""What tests of `external` share; without Qiskit, they are skipped before they ask for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from ..support.vendors import Held, Vendor


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Held:
    from ..support.vendors import Held

    return Held(monkeypatch)


@pytest.fixture
def vendor() -> Vendor:
    from ..support.vendors import Vendor

    return Vendor()
