import { Type } from "typebox";
import { POOL_ACCESS_API } from "@platform/contract/platform-api/pool-access";
import type { PoolShare } from "@platform/contract/platform-api/pool-access";
import { useChange } from "../api/queries.ts";
import { ChoiceField, TextField } from "./fields.tsx";
import { SchemaBackedForm } from "./schema-backed-form.tsx";

interface ShareDataPoolProps {
  readonly poolId: string;
  readonly close: () => void;
}

type Values = Pick<PoolShare, "organizationId" | "role">;

/** The body, and the organisation, which the operation takes from the path. */
const SCHEMA = Type.Object({
  ...POOL_ACCESS_API.putPoolShare.body.properties,
  organizationId: POOL_ACCESS_API.putPoolShare.params.properties.organizationId,
});

/** Shares the pool with another organisation. */
export function ShareDataPool({ poolId, close }: ShareDataPoolProps) {
  const share = useChange("putPoolShare", { done: "Shared.", refresh: ["listPoolShares"] });
  return (
    <SchemaBackedForm<Values>
      schema={SCHEMA}
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
