"""Travelling salesman: iterated local search with 2-opt and Or-opt moves."""

import itertools
import logging
from dataclasses import dataclass

import numpy as np
from platform_service import checkpoint, report

logger = logging.getLogger(__name__)

LONGEST_MOVED_SEGMENT = 3


@dataclass
class Data:
    cities: list[list[float]]


@dataclass
class Params:
    restarts: int = 200
    seed: int = 0


def run(data: Data, params: Params) -> dict:
    cities = np.asarray(data.cities, dtype=float)
    if cities.ndim != 2 or cities.shape[0] < 3 or cities.shape[1] != 2:
        raise ValueError(
            f"cities must be at least 3 pairs [x, y]; got an array of shape {cities.shape}"
        )
    distances = measure_distances(cities)
    generator = np.random.default_rng(params.seed)

    best = improve(build_nearest_neighbour_tour(distances), distances)
    best_length = measure_tour(best, distances)
    logger.info("first local optimum: %d", best_length)
    improvements = 0
    for restart in range(params.restarts):
        tour = improve(kick(best, generator), distances)
        length = measure_tour(tour, distances)
        if length < best_length:
            best, best_length = tour, length
            improvements += 1
            logger.info("restart %d: %d", restart + 1, length)
            checkpoint({"length": int(best_length), "tour": best.tolist()})
        report((restart + 1) / params.restarts, f"length {best_length}")
    return {"length": int(best_length), "tour": best.tolist(), "improvements": improvements}


def measure_distances(cities: np.ndarray) -> np.ndarray:
    """TSPLIB EUC_2D: Euclidean, rounded to the nearest whole number."""
    difference = cities[:, None, :] - cities[None, :, :]
    return np.rint(np.sqrt((difference**2).sum(axis=2))).astype(np.int64)


def measure_tour(tour: np.ndarray, distances: np.ndarray) -> int:
    return int(distances[tour, np.roll(tour, -1)].sum())


def build_nearest_neighbour_tour(distances: np.ndarray) -> np.ndarray:
    count = len(distances)
    unvisited = np.ones(count, dtype=bool)
    tour = np.zeros(count, dtype=np.int64)
    for position in range(count):
        nearness = distances[tour[position - 1]]
        nearest = int(np.where(unvisited, nearness, np.iinfo(np.int64).max).argmin())
        city = nearest if position > 0 else 0
        tour[position] = city
        unvisited[city] = False
    return tour


def improve(tour: np.ndarray, distances: np.ndarray) -> np.ndarray:
    """Applies the best 2-opt move, else the best Or-opt move, until neither shortens the tour."""
    while True:
        better = reverse_best_segment(tour, distances)
        if better is None:
            better = move_best_segment(tour, distances)
        if better is None:
            return tour
        tour = better


def reverse_best_segment(tour: np.ndarray, distances: np.ndarray) -> np.ndarray | None:
    """2-opt: all pairs of edges (i, i+1), (j, j+1) at once."""
    following = np.roll(tour, -1)
    edges = distances[tour, following]
    change = (
        distances[np.ix_(tour, tour)]
        + distances[np.ix_(following, following)]
        - edges[:, None]
        - edges[None, :]
    )
    change[np.tril_indices(len(tour))] = 0
    first, second = np.unravel_index(int(change.argmin()), change.shape)
    if change[first, second] >= 0:
        return None
    result = tour.copy()
    result[first + 1 : second + 1] = result[first + 1 : second + 1][::-1]
    return result


def move_best_segment(tour: np.ndarray, distances: np.ndarray) -> np.ndarray | None:
    """Or-opt: moves one to three neighbouring cities to another place, in either direction."""
    count = len(tour)
    best_gain, best_move = 0, None
    sizes = range(1, min(LONGEST_MOVED_SEGMENT, count - 2) + 1)
    for size, start in itertools.product(sizes, range(count)):
        turned = np.roll(tour, -start)
        segment, rest = turned[:size], turned[size:]
        removed = (
            distances[rest[-1], segment[0]]
            + distances[segment[-1], rest[0]]
            - distances[rest[-1], rest[0]]
        )
        before, after = rest[:-1], rest[1:]
        joined = distances[before, after]
        straight = distances[before, segment[0]] + distances[segment[-1], after] - joined
        turned_round = distances[before, segment[-1]] + distances[segment[0], after] - joined
        for added, piece in ((straight, segment), (turned_round, segment[::-1])):
            place = int(added.argmin())
            gain = removed - added[place]
            if gain > best_gain:
                best_gain = gain
                best_move = np.concatenate([rest[: place + 1], piece, rest[place + 1 :]])
    return best_move


def kick(tour: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Double bridge: reorders four pieces in a way that no single move above can undo."""
    if len(tour) < 8:
        return generator.permutation(tour)
    first, second, third = np.sort(generator.choice(np.arange(1, len(tour)), size=3, replace=False))
    return np.concatenate([tour[:first], tour[second:third], tour[first:second], tour[third:]])
