"""The page does what it says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from .support.needs import need_packages

need_packages("qiskit", "qiskit_qasm3_import")

from platform_quantum.models import JobInfo  # noqa: E402
from platform_quantum.qiskit.result import build_result  # noqa: E402

from .support.descriptions import describe_job  # noqa: E402
from .support.wire import make_data, make_ghz, run_over_wire  # noqa: E402

README = Path(__file__).parents[1] / "README.md"


def read_snippet(word: str) -> str:
    snippets = re.findall(r"```python\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    (found,) = [snippet for snippet in snippets if word in snippet]
    assert isinstance(found, str)
    return found


def test_the_backend_of_twenty_lines_runs() -> None:
    text = read_snippet("gate_backend")
    assert len([line for line in text.splitlines() if line]) <= 20
    program: dict[str, Any] = {}
    exec(text, program)
    raw = run_over_wire(program["run"], make_data(make_ghz(3)), shots=100, seed=1)
    counts = build_result(raw, JobInfo.from_dict(describe_job("COMPLETED"))).get_counts()
    assert set(counts) == {"000", "111"}
    assert program["describe"]()["configuration"]["qubit_count"] == 10


def test_the_other_snippets_name_what_there_is() -> None:
    for word in (
        "get_backend",
        "PlatformSampler",
        "EstimatorV2",
        "PlatformBraketDevice",
        "platform.qubit",
    ):
        compile(read_snippet(word), "README.md", "exec")
