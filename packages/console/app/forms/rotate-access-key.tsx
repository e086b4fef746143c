import { APPLICATIONS_API } from "@platform/contract/platform-api/applications";
import type { AnswerOf, BodyOf } from "../api/client.ts";
import { useChange } from "../api/queries.ts";
import { ChoiceField } from "./fields.tsx";
import { SchemaBackedForm } from "./schema-backed-form.tsx";

interface RotateAccessKeyProps {
  readonly applicationId: string;
  readonly keyId: string;
  readonly onCreated: (key: AnswerOf<"rotateAccessKey">) => void;
  readonly onCancel: () => void;
}

const ENDS = [
  { value: "0", label: "At once: calls with the former key fail" },
  { value: "1", label: "After 1 hour" },
  { value: "24", label: "After 24 hours" },
  { value: "168", label: "After 7 days" },
] as const;

/** A new key in the place of another one, which goes on for a while. */
export function RotateAccessKey({ applicationId, keyId, onCreated, onCancel }: RotateAccessKeyProps) {
  const rotate = useChange("rotateAccessKey", { refresh: ["listAccessKeys"] });
  return (
    <SchemaBackedForm<BodyOf<"rotateAccessKey">>
      schema={APPLICATIONS_API.rotateAccessKey.body}
      initial={{ oldEndsInHours: "24" }}
      prepare={({ oldEndsInHours }) => ({ oldEndsInHours: Number(oldEndsInHours) })}
      submitLabel="Rotate"
      submit={(body) => rotate.run({ params: { id: applicationId, keyId }, body }).then(onCreated)}
      onCancel={onCancel}
    >
      <ChoiceField
        name="oldEndsInHours"
        label="When does the former key end?"
        description="Until then both work, so that callers can change over one by one."
        options={ENDS}
        hasFocus
      />
    </SchemaBackedForm>
  );
}
