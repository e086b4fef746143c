import { SESSION_API } from "@platform/contract/platform-api/session";
import type { BodyOf } from "../api/client.ts";
import { useChange } from "../api/queries.ts";
import { PasswordField } from "./fields.tsx";
import { SchemaBackedForm } from "./schema-backed-form.tsx";

/** Another password; the user's other sessions end. */
export function ChangePassword({ close }: { readonly close: () => void }) {
  const change = useChange("changePassword", {
    done: "Password changed. Your other sessions have ended.",
    refresh: ["listSessions"],
  });
  return (
    <SchemaBackedForm<BodyOf<"changePassword">>
      schema={SESSION_API.changePassword.body}
      initial={{ currentPassword: "", newPassword: "" }}
      submitLabel="Change"
      submit={(body) => change.run({ body })}
      onDone={close}
      onCancel={close}
    >
      <PasswordField
        name="currentPassword"
        label="Present password"
        autoComplete="current-password"
        hasFocus
      />
      <PasswordField
        name="newPassword"
        label="New password"
        description="At least 12 characters. All other sessions end; personal access tokens stay valid."
        autoComplete="new-password"
      />
    </SchemaBackedForm>
  );
}
