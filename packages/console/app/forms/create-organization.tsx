import { ORGANIZATIONS_API } from "@platform/contract/platform-api/organizations";
import type { AnswerOf, BodyOf } from "../api/client.ts";
import { useChange } from "../api/queries.ts";
import { TextField } from "./fields.tsx";
import { SchemaBackedForm } from "./schema-backed-form.tsx";

interface CreateOrganizationProps {
  readonly onCreated: (organisation: AnswerOf<"createOrganization">) => Promise<void>;
}

/** A new organisation, whose owner the user is. */
export function CreateOrganization({ onCreated }: CreateOrganizationProps) {
  const create = useChange("createOrganization", {
    done: "Organisation created.",
    refresh: ["getMe", "listOrganizations"],
  });
  return (
    <SchemaBackedForm<BodyOf<"createOrganization">>
      schema={ORGANIZATIONS_API.createOrganization.body}
      initial={{ name: "", slug: "" }}
      submitLabel="Create"
      submit={(body) => create.run({ body }).then(onCreated)}
    >
      <TextField name="name" label="Name" placeholder="Chemistry laboratory" />
      <TextField
        name="slug"
        label="Short name"
        description="Stands in addresses: lower-case letters, digits and single hyphens. Left out, one is made of the name."
        placeholder="chemistry"
        isMonospaced
      />
    </SchemaBackedForm>
  );
}
