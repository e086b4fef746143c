import { Button, Group } from "@mantine/core";
import type { VersionDetails } from "@platform/contract/platform-api/services";
import { showJson } from "../util/show-json.ts";
import { TextAreaField } from "./fields.tsx";
import { useFormContext } from "./schema-backed-form.tsx";

interface ExampleFieldProps {
  readonly name: string;
  /** Example input of the newest version's project; null: it has none. */
  readonly ofProject: VersionDetails["exampleInput"];
}

/** The example that others see and that clients are downloaded with. That of the project is shown to others only when it is chosen. */
export function ExampleField({ name, ofProject }: ExampleFieldProps) {
  const form = useFormContext();
  return (
    <div>
      <TextAreaField
        name={name}
        label="Example input"
        description="JSON of data and params to try it with, which clients are downloaded with as well; empty: there is none"
        isVerbatim
      />
      {ofProject !== null && (
        <Group mt={6}>
          <Button
            variant="default"
            size="compact-sm"
            onClick={() => form.setFieldValue(name, showJson(ofProject))}
          >
            Use the example of the project
          </Button>
        </Group>
      )}
    </div>
  );
}
