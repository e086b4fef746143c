import { ACCOUNT_API } from "@platform/contract/platform-api/account";
import type { AnswerOf, BodyOf } from "../api/client.ts";
import { useChange } from "../api/queries.ts";
import { ChoicesField, NumberField, TextField } from "./fields.tsx";
import { SchemaBackedForm } from "./schema-backed-form.tsx";

interface CreatePersonalAccessTokenProps {
  readonly onCreated: (token: AnswerOf<"createPersonalAccessToken">) => void;
  readonly onCancel: () => void;
}

const SCOPES = [
  { value: "read", label: "read: reading" },
  { value: "run", label: "run: also starting jobs" },
  { value: "deploy", label: "deploy: also services, applications, subscriptions" },
  { value: "admin", label: "admin: all that you may" },
  { value: "quantum", label: "quantum: the quantum API only" },
] as const;

/** A new personal access token. */
export function CreatePersonalAccessToken({ onCreated, onCancel }: CreatePersonalAccessTokenProps) {
  const create = useChange("createPersonalAccessToken", { refresh: ["listPersonalAccessTokens"] });
  return (
    <SchemaBackedForm<BodyOf<"createPersonalAccessToken">>
      schema={ACCOUNT_API.createPersonalAccessToken.body}
      initial={{ name: "", scopes: ["deploy"], expiresInDays: 90 }}
      submitLabel="Create token"
      submit={(body) => create.run({ body }).then(onCreated)}
      onCancel={onCancel}
    >
      <TextField name="name" label="Name" description="Where it is used." placeholder="laptop" hasFocus />
      <ChoicesField
        name="scopes"
        label="Scopes"
        description="What it opens. Less is safer."
        options={SCOPES}
      />
      <NumberField name="expiresInDays" label="Expires after" min={1} max={3650} suffix=" days" />
    </SchemaBackedForm>
  );
}
