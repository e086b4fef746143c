import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createWorld } from "../support/world.ts";
import type { Consumer, World } from "../support/world.ts";

/** One part of the input with a type of its own and one without; multiplies, or raises. */
const PROGRAM = `
from dataclasses import dataclass

@dataclass
class Params:
    factor: int = 2

def run(data: dict, params: Params) -> dict:
    if data.get("act") == "raise":
        raise ValueError("no such thing")
    numbers = data.get("numbers")
    return {"product": [params.factor * number for number in numbers] if isinstance(numbers, list) else []}
`;

/** A running platform with one service and a subscription to it, and the documents that they serve as files. */
export interface Sample {
  readonly world: World;
  readonly consumer: Consumer;
  readonly serviceDocument: string;
  readonly platformDocument: string;
  /** A new folder that ends with the sample. */
  readonly createFolder: (name: string) => Promise<string>;
  readonly close: () => Promise<void>;
}

export async function createSample(): Promise<Sample> {
  const world = await createWorld({
    flags: ["--worker-cpu", "4", "--worker-memory", "8", "--writes-per-second", "100000"],
  });
  const createFolder = async (name: string) => {
    const folder = join(world.directory, name);
    await mkdir(folder);
    return folder;
  };
  try {
    const { serviceKey } = await world.deploy(await world.createProject("sample", PROGRAM));
    const consumer = await world.subscribe(serviceKey);
    const folder = await createFolder("documents");
    const write = async (name: string, document: unknown) => {
      const file = join(folder, name);
      await writeFile(file, JSON.stringify(document));
      return file;
    };
    const serviceDocument = await write("service.json", (await consumer.call("GET", "openapi.json")).body);
    const platformDocument = await write("platform.json", (await world.api("GET", "/openapi.json")).body);
    return { world, consumer, serviceDocument, platformDocument, createFolder, close: world.close };
  } catch (error) {
    await world.close();
    throw error;
  }
}
