import { ACCOUNT_API } from "@platform/contract/platform-api/account";
import type { BodyOf } from "../api/client.ts";
import { useChange } from "../api/queries.ts";
import { TextField } from "./fields.tsx";
import { SchemaBackedForm } from "./schema-backed-form.tsx";

/** The user's own name. */
export function RenameUser({ name, close }: { readonly name: string; readonly close: () => void }) {
  const change = useChange("putMe", { done: "Renamed.", refresh: ["getMe", "listMembers"] });
  return (
    <SchemaBackedForm<BodyOf<"putMe">>
      schema={ACCOUNT_API.putMe.body}
      initial={{ name }}
      submitLabel="Rename"
      submit={(body) => change.run({ body })}
      onDone={close}
      onCancel={close}
    >
      <TextField name="name" label="Name" autoComplete="name" hasFocus />
    </SchemaBackedForm>
  );
}
