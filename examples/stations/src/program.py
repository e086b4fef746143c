"""The mean of one column of each CSV file in a data pool, as a result and as a table."""

import csv
import os
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from platform_service import DataPool


@dataclass
class Params:
    stations: DataPool
    column: str = "temperature"


def run(params: Params) -> dict:
    means = {
        Path(name).stem: round(read_mean(params.stations, name, params.column), 2)
        for name in params.stations
    }
    if not means:
        raise ValueError("the data pool has no files")
    write_table(means, params.column)
    return {"means": means, "highest": max(means, key=lambda station: means[station])}


def read_mean(stations: DataPool, name: str, column: str) -> float:
    with stations.open(name) as file:
        rows = csv.DictReader(file)
        if column not in (rows.fieldnames or ()):
            raise ValueError(f"{name} has no column {column}")
        return fmean(float(row[column]) for row in rows)


def write_table(means: dict[str, float], column: str) -> None:
    """A file of the result: callers find it in `_links`."""
    path = Path(os.environ["OUTPUT_DIRECTORY"], "means.csv")
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["station", column])
        table.writerows(means.items())
