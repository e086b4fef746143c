"""The noise of a described device, the same at the backend and wherever a job is rehearsed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qiskit.providers import BackendV2, Options

from ..needs import need

if TYPE_CHECKING:
    from qiskit.transpiler import Target
    from qiskit_aer import AerSimulator
    from qiskit_aer.noise import NoiseModel


class _Described(BackendV2):  # type: ignore[misc, unused-ignore]
    """As much of a backend as Aer needs to build noise from."""

    def __init__(self, target: Target) -> None:
        super().__init__(name="described")
        self._target = target

    @classmethod
    def _default_options(cls) -> Options:
        return Options()

    @property
    def target(self) -> Target:
        return self._target

    @property
    def max_circuits(self) -> None:
        return None

    def run(self, run_input: Any, **options: Any) -> Any:
        raise NotImplementedError("a description runs nothing")


def build_noise(target: Target) -> NoiseModel:
    """Thermal relaxation, gate errors and readout errors, as the target has them.

    :raises MissingDependencyError: qiskit-aer is not installed
    """
    need("qiskit_aer", "simulator")
    from qiskit_aer.noise import NoiseModel

    return NoiseModel.from_backend(_Described(target))


def make_simulator(noise: NoiseModel | None, **options: Any) -> AerSimulator:
    """A simulator whose shots depend on its seed alone, wherever it runs.

    One state at a time: shots in parallel would have seeds by the number of threads.
    """
    need("qiskit_aer", "simulator")
    from qiskit_aer import AerSimulator

    alone = {"max_parallel_experiments": 1, "max_parallel_shots": 1}
    return AerSimulator(noise_model=noise, **alone, **options)
