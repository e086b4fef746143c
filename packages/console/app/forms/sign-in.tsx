import { SESSION_API } from "@platform/contract/platform-api/session";
import type { BodyOf } from "../api/client.ts";
import { useChange } from "../api/queries.ts";
import { PasswordField, TextField } from "./fields.tsx";
import { SchemaBackedForm } from "./schema-backed-form.tsx";

/** Email address and password of a user. */
export function SignIn({ onDone }: { readonly onDone: () => Promise<void> }) {
  const signIn = useChange("signIn", { refresh: [] });
  return (
    <SchemaBackedForm<BodyOf<"signIn">>
      schema={SESSION_API.signIn.body}
      initial={{ email: "", password: "" }}
      submitLabel="Sign in"
      submit={(body) => signIn.run({ body })}
      onDone={() => void onDone()}
    >
      <TextField name="email" label="Email address" autoComplete="username" hasFocus />
      <PasswordField name="password" label="Password" autoComplete="current-password" />
    </SchemaBackedForm>
  );
}
