import { DATA_POOLS_API } from "@platform/contract/platform-api/data-pools";
import type { PoolFile } from "@platform/contract/platform-api/data-pools";
import type { BodyOf } from "../api/client.ts";
import { useChange } from "../api/queries.ts";
import { TextField } from "./fields.tsx";
import { SchemaBackedForm } from "./schema-backed-form.tsx";

interface RenamePoolFileProps {
  readonly poolId: string;
  readonly file: PoolFile;
  readonly close: () => void;
}

/** Another name; the identifiers stay, so references to the file do. */
export function RenamePoolFile({ poolId, file: { fileId, name }, close }: RenamePoolFileProps) {
  const rename = useChange("renamePoolFile", { done: "Renamed.", refresh: ["listPoolFiles"] });
  return (
    <SchemaBackedForm<BodyOf<"renamePoolFile">>
      schema={DATA_POOLS_API.renamePoolFile.body}
      initial={{ name }}
      submitLabel="Rename"
      submit={(body) => rename.run({ params: { id: poolId, file: fileId }, body })}
      onDone={close}
      onCancel={close}
    >
      <TextField name="name" label="Name" description="References to it stay valid." hasFocus />
    </SchemaBackedForm>
  );
}
