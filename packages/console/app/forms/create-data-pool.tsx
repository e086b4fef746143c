import { DATA_POOLS_API } from "@platform/contract/platform-api/data-pools";
import type { AnswerOf, BodyOf } from "../api/client.ts";
import { useChange } from "../api/queries.ts";
import { TextField } from "./fields.tsx";
import { SchemaBackedForm } from "./schema-backed-form.tsx";

interface CreateDataPoolProps {
  readonly onCreated: (pool: AnswerOf<"createDataPool">) => void;
  readonly onCancel: () => void;
}

/** A new data pool; files follow on its page. */
export function CreateDataPool({ onCreated, onCancel }: CreateDataPoolProps) {
  const create = useChange("createDataPool", { done: "Data pool created.", refresh: ["listDataPools"] });
  return (
    <SchemaBackedForm<BodyOf<"createDataPool">>
      schema={DATA_POOLS_API.createDataPool.body}
      initial={{ name: "", description: "" }}
      submitLabel="Create"
      submit={(body) => create.run({ body }).then(onCreated)}
      onCancel={onCancel}
    >
      <TextField name="name" label="Name" placeholder="Maps" hasFocus />
      <TextField name="description" label="Description" description="What the files are, in one line" />
    </SchemaBackedForm>
  );
}
