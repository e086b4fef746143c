import { useState } from "react";
import { DATA_POOLS_API } from "@platform/contract/platform-api/data-pools";
import type { DataPool } from "@platform/contract/platform-api/data-pools";
import type { FieldsOf } from "../api/client.ts";
import { useChange } from "../api/queries.ts";
import { TextField } from "./fields.tsx";
import { SchemaBackedForm } from "./schema-backed-form.tsx";
import { useSendChanged } from "./use-send-changed.ts";

interface ChangeDataPoolProps {
  readonly pool: DataPool;
  readonly close: () => void;
}

/** Another name or description; references to its files stay valid. */
export function ChangeDataPool({ pool, close }: ChangeDataPoolProps) {
  const { id } = pool;
  const [begun] = useState({ name: pool.name, description: pool.description });
  const sendChanged = useSendChanged(begun);
  const change = useChange("putDataPool", { done: "Changed.", refresh: ["getDataPool", "listDataPools"] });
  return (
    <SchemaBackedForm<FieldsOf<"putDataPool">>
      schema={DATA_POOLS_API.putDataPool.body}
      initial={begun}
      // An empty description is one.
      prepare={(values) => values}
      submitLabel="Change"
      submit={(body) => sendChanged(body, (changed) => change.run({ params: { id }, body: changed }))}
      onDone={close}
      onCancel={close}
    >
      <TextField name="name" label="Name" hasFocus />
      <TextField name="description" label="Description" description="What the files are, in one line" />
    </SchemaBackedForm>
  );
}
