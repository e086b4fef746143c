"""The service: `run` is called once for each execution, in a fresh process.

The type hints define the input: input that does not match them is refused before this code runs.
They are also part of the OpenAPI document of the service.
"""

import logging

import numpy as np
from pydantic import BaseModel, Field

logger = logging.getLogger(__name__)


class Data(BaseModel):
    """A system of linear equations, matrix * x = vector."""

    matrix: list[list[float]] = Field(min_length=1)
    vector: list[float] = Field(min_length=1)


class Params(BaseModel):
    """Options of the solver."""

    precision: int = Field(default=6, ge=0, le=15, description="Decimal places")


class Solution(BaseModel):
    """The result of an execution."""

    x: list[float]
    residual: float = Field(description="Length of matrix * x - vector")


def run(data: Data, params: Params) -> Solution:
    """Solves the equations by least squares; there may be more or fewer than unknowns."""
    matrix = np.array(data.matrix)
    vector = np.array(data.vector)
    logger.info("solving %d equations with %d unknowns", *matrix.shape)
    x, *_ = np.linalg.lstsq(matrix, vector)
    residual = float(np.linalg.norm(matrix @ x - vector))
    return Solution(x=[round(float(value), params.precision) for value in x], residual=residual)
