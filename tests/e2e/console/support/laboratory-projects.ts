/* What the laboratory of the stories deploys: services as people write them, without requirements, so that a build takes seconds. */

const ROUTES_README = `# Route planner

Plans the round trip of **one van**: nearest neighbour first, then 2-opt until no exchange of two legs shortens the tour.

| stops | typical run |
|---|---|
| 20 | 0.1 s |
| 200 | 4 s |

## Input

Coordinates are kilometres in the local grid. The tour begins and ends at the depot.

\`\`\`python
client.run({"depot": {"name": "Salzburg", "x": 0, "y": 0}, "stops": [...]})
\`\`\`
`;

const ROUTES = `
"""Plans the round trip of one van."""

import logging
import math
import time
from dataclasses import dataclass
from typing import TypedDict

from platform_service import report

logger = logging.getLogger(__name__)


@dataclass
class Stop:
    name: str
    x: float
    y: float


@dataclass
class Data:
    depot: Stop
    stops: list[Stop]


@dataclass
class Params:
    speed_kmh: float = 50.0
    minutes_per_stop: int = 5
    search_seconds: int = 0


class Tour(TypedDict):
    tour: list[str]
    distance_km: float
    duration_minutes: int


def run(data: Data, params: Params) -> Tour:
    if not data.stops:
        raise ValueError("stops is empty: there is nothing to visit")
    tour = [data.depot, *data.stops]
    logger.info("read %d stops around %s", len(data.stops), data.depot.name)
    logger.info("nearest neighbour: %.1f km", measure(tour))
    for second in range(params.search_seconds):
        report(second / params.search_seconds, f"best so far {measure(tour):.1f} km")
        logger.info("restart %d: %.1f km", second + 1, measure(tour))
        time.sleep(1)
    tour = improve(tour)
    length = measure(tour)
    logger.info("after 2-opt: %.1f km", length)
    minutes = length / params.speed_kmh * 60 + len(data.stops) * params.minutes_per_stop
    return {"tour": [stop.name for stop in tour], "distance_km": round(length, 3), "duration_minutes": round(minutes)}


def measure(tour: list[Stop]) -> float:
    return sum(math.dist((a.x, a.y), (b.x, b.y)) for a, b in zip(tour, [*tour[1:], tour[0]]))


def improve(tour: list[Stop]) -> list[Stop]:
    best, length = tour, measure(tour)
    for first in range(1, len(tour) - 1):
        for last in range(first + 1, len(tour)):
            turned = [*best[:first], *reversed(best[first : last + 1]), *best[last + 1 :]]
            if measure(turned) < length - 1e-9:
                best, length = turned, measure(turned)
    return best
`;

const FORECAST = `
"""Forecasts the load of a feeder for the next day from that of past weeks."""

import logging
from statistics import fmean

logger = logging.getLogger(__name__)


def run(data: dict[str, list[float]]) -> dict[str, list[float]]:
    """Load in kW, 24 values a day and feeder."""
    logger.info("%d feeders", len(data))
    return {feeder: [round(fmean(load[hour::24]), 2) for hour in range(24)] for feeder, load in data.items()}
`;

const LOADING = `
"""Packs parcels into as few vans as it can: first fit, the largest first."""


def run(data: list[float], params: dict[str, float]) -> list[list[float]]:
    vans: list[list[float]] = []
    for parcel in sorted(data, reverse=True):
        van = next((one for one in vans if sum(one) + parcel <= params["capacity"]), None)
        if van is None:
            vans.append(van := [])
        van.append(parcel)
    return vans
`;

const STOPS = [
  { name: "Hallein", x: 4.2, y: -12.6 },
  { name: "Bad Ischl", x: 41.7, y: -9.8 },
  { name: "Mondsee", x: 22.9, y: 8.1 },
  { name: "Oberndorf", x: -8.3, y: 17.4 },
  { name: "Freilassing", x: -7.1, y: 4.0 },
] as const;

/** The input of a run of the route planner with so many stops. */
export function createTour(stops: number): Readonly<Record<string, unknown>> {
  return { depot: { name: "Salzburg", x: 0, y: 0 }, stops: STOPS.slice(0, stops) };
}

/** How many stops the largest tour has. */
export const MOST_STOPS = STOPS.length;

const describe = (name: string, more: Readonly<Record<string, unknown>> = {}) =>
  JSON.stringify({ name, runtime: "PYTHON_TEMPLATE", resources: { cpu: 0.25, memory: 0.25 }, ...more });

/** The projects by the names of their services: the program, and the other files. */
export const PROJECTS = {
  "route-planner": {
    program: ROUTES,
    files: {
      "platform.json": describe("route-planner", { descriptionFile: "README.md", timeoutSeconds: 900 }),
      "README.md": ROUTES_README,
      "input/data.json": JSON.stringify(createTour(MOST_STOPS), null, 2),
      "input/params.json": '{"speed_kmh": 45.0, "minutes_per_stop": 8}',
    },
  },
  "load-forecast": {
    program: FORECAST,
    files: {
      "input/data.json": JSON.stringify({ "feeder-07": [31.5, 30.75, 44.25], "feeder-12": [12.5, 11, 19.5] }),
    },
  },
  "van-loading": {
    program: LOADING,
    files: { "requirements.txt": "numpy==2.3.4\northools-of-nobody==9.14\n" },
  },
} as const satisfies Readonly<
  Record<string, { readonly program: string; readonly files: Readonly<Record<string, string>> }>
>;
