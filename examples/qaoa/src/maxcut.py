"""MaxCut by QAOA: the angles are found by a pattern search, whose steps are one job each."""

import math
from dataclasses import dataclass

from qiskit import QuantumCircuit
from qiskit.circuit import Parameter

FIRST_STEP = 0.4
SMALLEST_STEP = 0.02


@dataclass
class Settings:
    layers: int = 2
    rounds: int = 12
    shots: int = 1000
    seed: int = 1


class Problem:
    """A graph of numbered nodes; an edge is `[node, node]` or `[node, node, weight]`."""

    def __init__(self, edges):
        self.edges = [(int(edge[0]), int(edge[1]), float((*edge, 1.0)[2])) for edge in edges]
        self.nodes = 1 + max(max(one, other) for one, other, _ in self.edges)

    def measure_cut(self, sides):
        """Weight of the edges between two sides; `sides` is a text of 0 and 1, node 0 last."""
        sides = sides[::-1]
        return sum(weight for one, other, weight in self.edges if sides[one] != sides[other])


def build_circuit(problem, layers):
    """The circuit, and its angles in their order: for each layer that of the cost and the mixer."""
    circuit = QuantumCircuit(problem.nodes, name="qaoa")
    circuit.h(range(problem.nodes))
    angles = []
    for layer in range(layers):
        cost, mixer = Parameter(f"cost{layer}"), Parameter(f"mixer{layer}")
        angles += [cost, mixer]
        for one, other, weight in problem.edges:
            circuit.rzz(weight * cost, one, other)
        for node in range(problem.nodes):
            circuit.rx(2 * mixer, node)
    circuit.measure_all()
    return circuit, angles


class Search:
    """Looks for good angles; everything that is run on the backend goes through `measure`."""

    def __init__(self, backend, problem, settings):
        self.backend = backend
        self.problem = problem
        self.settings = settings
        self.circuit, self.angles = build_circuit(problem, settings.layers)
        self.jobs = 0

    def measure(self, points):
        """Counts for each point: all of them in one job."""
        circuits = [
            self.circuit.assign_parameters(dict(zip(self.angles, p, strict=True))) for p in points
        ]
        self.jobs += 1
        seed = self.settings.seed + self.jobs
        job = self.backend.run(circuits, shots=self.settings.shots, seed=seed, tags=["qaoa"])
        result = job.result()
        return [result.get_counts(index) for index in range(len(points))]

    def score(self, counts):
        """The cut that a shot has on average."""
        cuts = (self.problem.measure_cut(sides) * n for sides, n in counts.items())
        return sum(cuts) / sum(counts.values())

    def run(self, tell):
        """The best counts and their score; `tell` is called after each round."""
        point = [math.pi / 8] * len(self.angles)
        best = self.measure([point])[0]
        score = self.score(best)
        step = FIRST_STEP
        for number in range(self.settings.rounds):
            points = list(list_neighbours(point, step))
            measured = self.measure(points)
            scores = [self.score(counts) for counts in measured]
            leader = max(range(len(points)), key=scores.__getitem__)
            if scores[leader] > score:
                point, best, score = points[leader], measured[leader], scores[leader]
            elif step < SMALLEST_STEP:
                break
            else:
                step /= 2
            tell(number + 1, score)
        return best, score


def list_neighbours(point, step):
    for index in range(len(point)):
        for change in (-step, step):
            yield [*point[:index], point[index] + change, *point[index + 1 :]]


def solve(backend, edges, settings, tell):
    """The best cut that was measured, and how it was found."""
    problem = Problem(edges)
    search = Search(backend, problem, settings)
    counts, score = search.run(tell)
    sides = max(counts, key=problem.measure_cut)
    return {
        "cut": problem.measure_cut(sides),
        "side": [node for node in range(problem.nodes) if sides[::-1][node] == "1"],
        "average": round(score, 4),
        "jobs": search.jobs,
    }
