import { SIGN_UP_API } from "@platform/contract/platform-api/sign-up";
import type { BodyOf } from "../api/client.ts";
import { useChange } from "../api/queries.ts";
import { PasswordField } from "./fields.tsx";
import { SchemaBackedForm } from "./schema-backed-form.tsx";

interface SetNewPasswordProps {
  /** Of the link. */
  readonly token: string;
  readonly onDone: () => Promise<void>;
}

/** A new password, set with a link; all sessions of the user end. */
export function SetNewPassword({ token, onDone }: SetNewPasswordProps) {
  const reset = useChange("resetPassword", { done: "Password set. Sign in with it.", refresh: [] });
  return (
    <SchemaBackedForm<BodyOf<"resetPassword">>
      schema={SIGN_UP_API.resetPassword.body}
      initial={{ password: "" }}
      submitLabel="Set password"
      submit={(body) => reset.run({ params: { token }, body })}
      onDone={() => void onDone()}
    >
      <PasswordField
        name="password"
        label="New password"
        description="At least 12 characters. You are signed out everywhere; personal access tokens stay valid."
        autoComplete="new-password"
        hasFocus
      />
    </SchemaBackedForm>
  );
}
