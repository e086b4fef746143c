import { INVITATIONS_API } from "@platform/contract/platform-api/invitations";
import type { AnswerOf, BodyOf } from "../api/client.ts";
import { q, useChange, useFetched } from "../api/queries.ts";
import { ChoiceField, NumberField, TextField } from "./fields.tsx";
import { ROLE_CHOICES } from "./role-choices.ts";
import { SchemaBackedForm } from "./schema-backed-form.tsx";

interface InviteProps {
  readonly onCreated: (invitation: AnswerOf<"createInvitation">) => void;
  readonly onCancel: () => void;
}

/** An invitation to the organisation: a link, which works once. */
export function Invite({ onCreated, onCancel }: InviteProps) {
  const create = useChange("createInvitation", { refresh: ["listInvitations"] });
  const { data } = useFetched(q("getConfiguration", {}));
  return (
    <SchemaBackedForm<BodyOf<"createInvitation">>
      schema={INVITATIONS_API.createInvitation.body}
      initial={{ role: "viewer", email: "", expiresInDays: 7 }}
      submitLabel="Make the link"
      submit={(body) => create.run({ body }).then(onCreated)}
      onCancel={onCancel}
    >
      <ChoiceField name="role" label="Role" options={ROLE_CHOICES} />
      <TextField
        name="email"
        label="Email address"
        description={`Only the user with this address can accept${data?.mail === true ? ", and the link is sent there as well" : ""}. Left out, it is for whoever has the link.`}
        hasFocus
      />
      <NumberField name="expiresInDays" label="Expires after" min={1} max={30} suffix=" days" />
    </SchemaBackedForm>
  );
}
