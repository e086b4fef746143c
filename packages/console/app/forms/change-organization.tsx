import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { ORGANIZATIONS_API } from "@platform/contract/platform-api/organizations";
import type { AnswerOf, FieldsOf } from "../api/client.ts";
import { makeStale, useChange } from "../api/queries.ts";
import { useScope } from "../api/scope.tsx";
import type { Organisation } from "../api/scope.tsx";
import { TextField } from "./fields.tsx";
import { SchemaBackedForm } from "./schema-backed-form.tsx";
import { useSendChanged } from "./use-send-changed.ts";

interface ChangeOrganizationProps {
  readonly organisation: Organisation;
  readonly close: () => void;
}

/** Another name or short name. */
export function ChangeOrganization({ organisation, close }: ChangeOrganizationProps) {
  const { id } = organisation;
  const [begun] = useState({ name: organisation.name, slug: organisation.slug });
  const sendChanged = useSendChanged(begun);
  const scope = useScope();
  const navigate = useNavigate();
  const change = useChange("putOrganization", { done: "Changed.", refresh: [] });
  const follow = async (changed: AnswerOf<"putOrganization">) => {
    // The address has the short name: the routes look for the new one only when it is there.
    await makeStale(scope, ["getMe", "listOrganizations"]);
    await navigate({
      to: "/o/$org/settings",
      params: { org: changed.slug },
      search: {},
      replace: true,
      ignoreBlocker: true,
    });
  };
  return (
    <SchemaBackedForm<FieldsOf<"putOrganization">>
      schema={ORGANIZATIONS_API.putOrganization.body}
      initial={begun}
      submitLabel="Change"
      submit={async (body) => {
        const changed = await sendChanged(body, (fields) => change.run({ params: { id }, body: fields }));
        if (changed === null) close();
        else await follow(changed);
      }}
      onCancel={close}
    >
      <TextField name="name" label="Name" hasFocus />
      <TextField
        name="slug"
        label="Short name"
        description="Stands in addresses of this console: links with the former one stop working. Endpoint URLs of services stay as they are."
        isMonospaced
      />
    </SchemaBackedForm>
  );
}
