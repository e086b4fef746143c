/** A thread that generates the models of one client: quicktype reads what was derived from a stranger's code, and may take any time or memory. */
import { threadCpuUsage } from "node:process";
import { parentPort, workerData } from "node:worker_threads";
import { InputData, JSONSchemaInput, JSONSchemaStore, quicktypeMultiFile } from "quicktype-core";
import type { JSONSchema } from "quicktype-core";
import type { ModelRequest } from "./generate-models.ts";
import { keepOrder } from "./keep-order.ts";

/** Nothing is fetched: the one that quicktype has would ask any host that a `$ref` names. */
class NoStore extends JSONSchemaStore {
  override fetch(address: string): Promise<JSONSchema | undefined> {
    return Promise.reject(new Error(`The schema refers to ${address}.`));
  }
}

const TARGETS = {
  java: (packageName: string) => ({
    lang: "java" as const,
    // The file that is named is the converter, which the core's mapper replaces.
    outputFilename: "Converter.java",
    rendererOptions: { package: packageName, "array-type": "list" as const },
  }),
  javascript: () => ({
    lang: "typescript" as const,
    outputFilename: "models.d.ts",
    rendererOptions: { "just-types": "true" as const },
  }),
  python: () => ({ lang: "python" as const, outputFilename: "models.py", rendererOptions: {} }),
};

/** A member may be called `list`, as a type of others is, and its default is no type: then types must not be looked up in its class. */
const LATE_TYPES = "from __future__ import annotations\n\n";

async function generate({ language, parts, javaPackage }: ModelRequest): Promise<Record<string, string>> {
  const schemas = new JSONSchemaInput(new NoStore());
  for (const { name, schema } of parts)
    await schemas.addSource({ name, schema: JSON.stringify({ title: name, ...keepOrder(schema) }) });
  const inputData = new InputData();
  inputData.addInput(schemas);
  const files = await quicktypeMultiFile({
    ...TARGETS[language](javaPackage),
    inputData,
    indentation: "    ",
    leadingComments: ["Generated from the schema of the service."],
  });
  return Object.fromEntries(
    [...files]
      .filter(([name]) => name !== "Converter.java")
      .map(([name, { lines }]) => [name, finish(language, `${lines.join("\n").trimEnd()}\n`)]),
  );
}

function finish(language: ModelRequest["language"], text: string): string {
  return language === "python" ? text.replace(/^from /mu, `${LATE_TYPES}from `) : text;
}

const say = parentPort?.postMessage.bind(parentPort);
const { user, system } = threadCpuUsage();
say?.({ loadedAt: (user + system) / 1_000 });
say?.({ files: await generate(workerData as ModelRequest) });
