"""MaxCut by QAOA as a service: a run starts quantum jobs with the access that it is given."""

from dataclasses import dataclass

from platform_service import report

from platform_quantum import PlatformQuantumProvider

from .maxcut import Settings, solve


@dataclass
class Data:
    edges: list[list[float]]


@dataclass
class Params:
    backend: str = "sim.statevector"
    layers: int = 2
    rounds: int = 12
    shots: int = 1000
    seed: int = 1


def run(data: Data, params: Params) -> dict:
    if not data.edges or any(len(edge) not in (2, 3) for edge in data.edges):
        raise ValueError("edges must be a list of [node, node] or [node, node, weight]")
    backend = PlatformQuantumProvider().get_backend(params.backend)
    settings = Settings(params.layers, params.rounds, params.shots, params.seed)

    def tell(number: int, score: float) -> None:
        report(number / params.rounds, f"a cut of {score:.2f} on average")

    # One job comes after the other: they go before what else waits, all on one version.
    with backend.open_session() as session:
        return solve(backend.with_options(session=session), data.edges, settings, tell)
