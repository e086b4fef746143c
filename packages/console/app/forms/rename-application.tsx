import { APPLICATIONS_API } from "@platform/contract/platform-api/applications";
import type { BodyOf } from "../api/client.ts";
import { useChange } from "../api/queries.ts";
import { TextField } from "./fields.tsx";
import { SchemaBackedForm } from "./schema-backed-form.tsx";

interface RenameApplicationProps {
  readonly id: string;
  readonly name: string;
  readonly close: () => void;
}

/** Another name; keys and subscriptions stay. */
export function RenameApplication({ id, name, close }: RenameApplicationProps) {
  const change = useChange("putApplication", {
    done: "Renamed.",
    refresh: ["getApplication", "listApplications"],
  });
  return (
    <SchemaBackedForm<BodyOf<"putApplication">>
      schema={APPLICATIONS_API.putApplication.body}
      initial={{ name }}
      submitLabel="Rename"
      submit={(body) => change.run({ params: { id }, body })}
      onDone={close}
      onCancel={close}
    >
      <TextField name="name" label="Name" hasFocus />
    </SchemaBackedForm>
  );
}
