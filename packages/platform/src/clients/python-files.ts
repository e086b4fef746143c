import type { ClientSubject, PackageFiles } from "./package-client.ts";

const PARTS = ["Data", "Params", "Output"] as const;

/** The files of a Python client that are not in every one. */
export function writePythonFiles(subject: ClientSubject): PackageFiles {
  const { names, version } = subject;
  return {
    "pyproject.toml": `[build-system]
requires = []
build-backend = "build_backend"
backend-path = ["."]

[project]
name = "${names.distribution}"
version = "${version}"
description = "Client of a service"
requires-python = ">=3.11"
dependencies = []
`,
    [`${names.module}/__init__.py`]: writeModule(subject),
    "example/__init__.py": "",
    "example/__main__.py": `"""Runs the service with the input beside this file."""

import json
from pathlib import Path

from ${names.module} import Client

here = Path(__file__).parent
data = json.loads((here / "data.json").read_text())
params = json.loads((here / "params.json").read_text())

with Client() as client:
    result = client.run(data, params, timeout=600)
    print(json.dumps(result.value))
`,
  };
}

function writeModule({ models, endpoint }: ClientSubject): string {
  const typed = PARTS.filter((part) => models?.typed.includes(part));
  const untyped = PARTS.filter((part) => !typed.includes(part));
  const decode = typed.includes("Output") ? "Output.from_dict" : "lambda value: value";
  const imported = typed.length === 0 ? "" : `from .models import ${typed.join(", ")}\n`;
  return `"""Client of a service: \`Client\`, \`AsyncClient\`, and the types of its input and result."""

from __future__ import annotations

from typing import Any

from . import core
from .core import *
${imported}${untyped.map((part) => `\n${part} = dict[str, Any]`).join("")}
ENDPOINT = ${JSON.stringify(endpoint)}


class Client(core.Client[Data, Params, Output]):
    """See \`core.Client\`; the endpoint is that of the service unless another one is given."""

    def __init__(
        self,
        key_id: str | None = None,
        secret: str | None = None,
        *,
        endpoint: str | None = None,
        token_url: str | None = None,
    ) -> None:
        found = endpoint or read_endpoint() or ENDPOINT
        super().__init__(found, key_id, secret, token_url, decode=${decode})


class AsyncClient(core.AsyncClient[Data, Params, Output]):
    """See \`core.AsyncClient\`."""

    def __init__(
        self,
        key_id: str | None = None,
        secret: str | None = None,
        *,
        endpoint: str | None = None,
        token_url: str | None = None,
        max_concurrency: int = 64,
    ) -> None:
        client = Client(key_id, secret, endpoint=endpoint, token_url=token_url)
        super().__init__(client, max_concurrency)


__all__ = core.__all__ + ["Data", "Output", "Params"]
`;
}
