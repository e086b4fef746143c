import { Text } from "@mantine/core";
import { Type } from "typebox";
import { POOL_ACCESS_API } from "@platform/contract/platform-api/pool-access";
import type { PoolGrant } from "@platform/contract/platform-api/pool-access";
import { q, useChange, useFetched } from "../api/queries.ts";
import { Failure } from "../ui/failure.tsx";
import { ChoiceField } from "./fields.tsx";
import { SchemaBackedForm } from "./schema-backed-form.tsx";

interface GrantDataPoolProps {
  readonly poolId: string;
  readonly close: () => void;
}

type Values = Pick<PoolGrant, "applicationId" | "access">;

/** The body, and the application, which the operation takes from the path. */
const SCHEMA = Type.Object({
  ...POOL_ACCESS_API.putPoolGrant.body.properties,
  applicationId: POOL_ACCESS_API.putPoolGrant.params.properties.applicationId,
});

/** Lets an application of the organisation use the pool. */
export function GrantDataPool({ poolId, close }: GrantDataPoolProps) {
  const { data, error, retry } = useFetched(q("listApplications", { query: { limit: 100 } }));
  const grant = useChange("putPoolGrant", { done: "Access granted.", refresh: ["listPoolGrants"] });
  if (error !== null) return <Failure error={error} retry={retry} />;
  if (data === undefined) return <Text c="dimmed">Loading the applications.</Text>;
  if (data.items.length === 0)
    return <Text>This organisation has no application yet. Create one first.</Text>;
  return (
    <SchemaBackedForm<Values>
      schema={SCHEMA}
      initial={{ applicationId: data.items[0]?.id, access: "read" }}
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
        options={data.items.map(({ id, name }) => ({ value: id, label: name }))}
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
