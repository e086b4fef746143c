import { ORGANIZATIONS_API } from "@platform/contract/platform-api/organizations";
import type { BodyOf, ItemOf } from "../api/client.ts";
import { useChange } from "../api/queries.ts";
import { ChoiceField } from "./fields.tsx";
import { ROLE_CHOICES } from "./role-choices.ts";
import { SchemaBackedForm } from "./schema-backed-form.tsx";

interface ChangeRoleProps {
  readonly member: ItemOf<"listMembers">;
  /** The user's own role decides what the console shows. */
  readonly isOwn: boolean;
  readonly close: () => void;
}

/** Another role of a member. */
export function ChangeRole({ member: { userId, role }, isOwn, close }: ChangeRoleProps) {
  const change = useChange("putMember", {
    done: "Role changed.",
    refresh: isOwn ? ["listMembers", "getMe"] : ["listMembers"],
  });
  return (
    <SchemaBackedForm<BodyOf<"putMember">>
      schema={ORGANIZATIONS_API.putMember.body}
      initial={{ role }}
      submitLabel="Change"
      submit={(body) => change.run({ params: { userId }, body })}
      onDone={close}
      onCancel={close}
    >
      <ChoiceField name="role" label="Role" options={ROLE_CHOICES} hasFocus />
    </SchemaBackedForm>
  );
}
