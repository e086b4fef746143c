import { Text } from "@mantine/core";
import { Type } from "typebox";
import type { TSchema } from "typebox";
import { POOL_ACCESS_API } from "@platform/contract/platform-api/pool-access";
import type { PoolGrant, PoolShare } from "@platform/contract/platform-api/pool-access";
import { useChange, useChoices } from "../api/queries.ts";
import { Failure } from "../ui/failure.tsx";
import { ChoiceField, TextField } from "./fields.tsx";
import { SchemaBackedForm } from "./schema-backed-form.tsx";

interface PoolAccessProps {
  readonly poolId: string;
  readonly close: () => void;
}

/** A form asks for the body, and for who gets access, which the operation takes from the path. */
function withParameter<const Name extends string, T extends TSchema>(
  { body, params }: { readonly body: Type.TObject; readonly params: Type.TObject<Record<Name, T>> },
  name: Name,
) {
  return Type.Object({ ...body.properties, [name]: params.properties[name] });
}

const GRANT = withParameter(POOL_ACCESS_API.putPoolGrant, "applicationId");
const SHARE = withParameter(POOL_ACCESS_API.putPoolShare, "organizationId");

/** Lets an application of the organisation use the pool. */
export function GrantDataPool({ poolId, close }: PoolAccessProps) {
  const { items: applications, error, retry } = useChoices("listApplications");
  const grant = useChange("putPoolGrant", { done: "Access granted.", refresh: ["listPoolGrants"] });
  if (error !== null) return <Failure error={error} retry={retry} />;
  if (applications === undefined) return <Text c="dimmed">Loading the applications.</Text>;
  if (applications.length === 0)
    return <Text>This organisation has no application yet. Create one first.</Text>;
  return (
    <SchemaBackedForm<Pick<PoolGrant, "applicationId" | "access">>
      schema={GRANT}
      initial={{ applicationId: applications[0]?.id, access: "read" }}
      submitLabel="Grant"
      submit={({ applicationId, access }) =>
        grant.run({ params: { id: poolId, applicationId }, body: { access } })
      }
      onDone={close}
      onCancel={close}
    >
      <ChoiceField
        name="applicationId"
        label="Application"
        options={applications.map(({ id, name }) => ({ value: id, label: name }))}
        hasFocus
      />
      <ChoiceField
        name="access"
        label="Access"
        options={[
          { value: "read", label: "Read: what it starts may refer to the files" },
          { value: "write", label: "Write: it may also store results in the pool" },
        ]}
      />
    </SchemaBackedForm>
  );
}

/** Shares the pool with another organisation. */
export function ShareDataPool({ poolId, close }: PoolAccessProps) {
  const share = useChange("putPoolShare", { done: "Shared.", refresh: ["listPoolShares"] });
  return (
    <SchemaBackedForm<Pick<PoolShare, "organizationId" | "role">>
      schema={SHARE}
      initial={{ organizationId: "", role: "viewer" }}
      submitLabel="Share"
      submit={({ organizationId, role }) =>
        share.run({ params: { id: poolId, organizationId }, body: { role } })
      }
      onDone={close}
      onCancel={close}
    >
      <TextField
        name="organizationId"
        label="Identifier of the organisation"
        description="Its members can tell it. What it stores counts for your organisation."
        isMonospaced
        hasFocus
      />
      <ChoiceField
        name="role"
        label="What it may do"
        options={[
          { value: "viewer", label: "Read files, and refer to them in jobs" },
          { value: "maintainer", label: "Also store, rename and delete files" },
        ]}
      />
    </SchemaBackedForm>
  );
}
