import { DATA_POOLS_API } from "@platform/contract/platform-api/data-pools";
import type { DataPool } from "@platform/contract/platform-api/data-pools";
import type { BodyOf } from "../api/client.ts";
import { useChange } from "../api/queries.ts";
import { TextField } from "./fields.tsx";
import { SchemaBackedForm } from "./schema-backed-form.tsx";

interface ChangeDataPoolProps {
  readonly pool: DataPool;
  readonly close: () => void;
}

/** Another name or description; references to its files stay valid. */
export function ChangeDataPool({ pool: { id, name, description }, close }: ChangeDataPoolProps) {
  const change = useChange("putDataPool", { done: "Changed.", refresh: ["getDataPool", "listDataPools"] });
  return (
    <SchemaBackedForm<BodyOf<"putDataPool">>
      schema={DATA_POOLS_API.putDataPool.body}
      initial={{ name, description }}
      // An empty description is one.
      prepare={(values) => values}
      submitLabel="Change"
      submit={(body) => change.run({ params: { id }, body })}
      onDone={close}
      onCancel={close}
    >
      <TextField name="name" label="Name" hasFocus />
      <TextField name="description" label="Description" description="What the files are, in one line" />
    </SchemaBackedForm>
  );
}
