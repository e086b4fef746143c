import { SIGN_UP_API } from "@platform/contract/platform-api/sign-up";
import type { BodyOf } from "../api/client.ts";
import { useChange } from "../api/queries.ts";
import { TextField } from "./fields.tsx";
import { SchemaBackedForm } from "./schema-backed-form.tsx";

/** Asks for a mail with a link that sets a new password. */
export function RequestPasswordReset({ onDone }: { readonly onDone: () => void }) {
  const request = useChange("requestPasswordReset", { refresh: [] });
  return (
    <SchemaBackedForm<BodyOf<"requestPasswordReset">>
      schema={SIGN_UP_API.requestPasswordReset.body}
      initial={{ email: "" }}
      submitLabel="Send the link"
      submit={(body) => request.run({ body })}
      onDone={onDone}
    >
      <TextField name="email" label="Email address" autoComplete="username" hasFocus />
    </SchemaBackedForm>
  );
}
