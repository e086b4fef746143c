import { APPLICATIONS_API } from "@platform/contract/platform-api/applications";
import type { AnswerOf, BodyOf } from "../api/client.ts";
import { useChange } from "../api/queries.ts";
import { NumberField, TextField } from "./fields.tsx";
import { SchemaBackedForm } from "./schema-backed-form.tsx";

interface CreateAccessKeyProps {
  readonly applicationId: string;
  readonly onCreated: (key: AnswerOf<"createAccessKey">) => void;
  readonly onCancel: () => void;
}

/** A new access key of an application. */
export function CreateAccessKey({ applicationId, onCreated, onCancel }: CreateAccessKeyProps) {
  const create = useChange("createAccessKey", { refresh: ["listAccessKeys"] });
  return (
    <SchemaBackedForm<BodyOf<"createAccessKey">>
      schema={APPLICATIONS_API.createAccessKey.body}
      initial={{ name: "", expiresInDays: "" }}
      submitLabel="Create key"
      submit={(body) => create.run({ params: { id: applicationId }, body }).then(onCreated)}
      onCancel={onCancel}
    >
      <TextField name="name" label="Name" description="Where it is used; may be left empty." hasFocus />
      <NumberField
        name="expiresInDays"
        label="Expires after"
        description="In days; left empty, it never expires."
        min={1}
        max={3650}
        suffix=" days"
      />
    </SchemaBackedForm>
  );
}
