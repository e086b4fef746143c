import { SIGN_UP_API } from "@platform/contract/platform-api/sign-up";
import type { AnswerOf, BodyOf } from "../api/client.ts";
import { useChange } from "../api/queries.ts";
import { PasswordField, TextField } from "./fields.tsx";
import { SchemaBackedForm } from "./schema-backed-form.tsx";

interface SignUpProps {
  /** Token of an invitation, which is accepted at the same time. */
  readonly invitation?: string;
  readonly onCreated: (me: AnswerOf<"signUp">) => Promise<void>;
}

/** A new account, whose user is signed in. */
export function SignUp({ invitation, onCreated }: SignUpProps) {
  const signUp = useChange("signUp", { refresh: [] });
  const more = invitation === undefined ? {} : { invitation };
  return (
    <SchemaBackedForm<BodyOf<"signUp">>
      schema={SIGN_UP_API.signUp.body}
      initial={{ name: "", email: "", password: "" }}
      submitLabel={invitation === undefined ? "Create account" : "Create account and join"}
      submit={(body) => signUp.run({ body: { ...body, ...more } }).then(onCreated)}
    >
      <TextField name="name" label="Your name" autoComplete="name" hasFocus />
      <TextField name="email" label="Email address" autoComplete="username" />
      <PasswordField
        name="password"
        label="Password"
        description="At least 12 characters. A few words that do not belong together are strong, and easy to remember."
        autoComplete="new-password"
      />
    </SchemaBackedForm>
  );
}
