import { Alert, Text } from "@mantine/core";
import type { LocalTry } from "@platform/contract/local-try";
import { listFields } from "../schema-form/list-fields.ts";
import { Code } from "../ui/code.tsx";
import { parseExact } from "../util/exact-json.ts";

const EXAMPLE = `from dataclasses import dataclass

@dataclass
class Data:
    stops: list[str]
    speed_kmh: float = 50.0

def run(data: Data):
    ...`;

/** How to get a form, where the types of `run` say nothing that a field could be made of. */
export function TypeHints({
  schema,
  text,
}: {
  readonly schema: LocalTry["inputSchema"];
  readonly text: string;
}) {
  const fields = schema === null ? [] : listFields(schema, parseExact(text)).fields;
  if (fields.some(({ control }) => control.kind !== "json")) return null;
  return (
    <Alert color="gray" variant="default" title="To get a form, say what the input is" role="note">
      <Text fz="sm" mb="xs">
        {schema === null
          ? "run has no type hints, so any object is taken, and nothing is checked before it runs."
          : "A dict may hold anything, so it is entered as JSON."}{" "}
        A dataclass, TypedDict or pydantic model has a field for each value, and what does not fit is refused
        at its field:
      </Text>
      <Code text={EXAMPLE} language="python" what="Example of type hints" />
    </Alert>
  );
}
