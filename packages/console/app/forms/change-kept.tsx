import { SimpleGrid } from "@mantine/core";
import { useState } from "react";
import { SERVICES_API } from "@platform/contract/platform-api/services";
import type { Service } from "@platform/contract/platform-api/services";
import type { BodyOf } from "../api/client.ts";
import { useChange } from "../api/queries.ts";
import { ChoiceField, NumberField } from "./fields.tsx";
import type { FormValues } from "./form-values.ts";
import { SchemaBackedForm } from "./schema-backed-form.tsx";

type Kept = Pick<Service, "logs" | "resultDays" | "logDays">;

/**
 * For how long executions are kept, and who reads the logs of what subscribers start. What is entered stays when somebody else saves
 * meanwhile, and only what was changed is sent.
 */
export function ChangeKept({ service }: { readonly service: Service }) {
  const { key } = service;
  const [begun, setBegun] = useState<Kept>(service);
  const { logs, resultDays, logDays } = begun;
  const put = useChange("putService", {
    done: "Saved.",
    refresh: ["getService", "listServices", "getMarketplaceEntry"],
  });
  return (
    <SchemaBackedForm<BodyOf<"putService">>
      key={`${resultDays} ${logDays} ${logs}`}
      schema={SERVICES_API.putService.body}
      initial={{ resultDays: resultDays ?? "", logDays: logDays ?? "", logs }}
      prepare={(values) => {
        const given = Object.entries(values).map(([name, value]) => [name, value === "" ? null : value]);
        const changed = given.filter(([name, value]) => value !== begun[name as keyof Kept]);
        return Object.fromEntries(changed.length === 0 ? given : changed) as FormValues;
      }}
      submitLabel="Save"
      submit={(body) => put.run({ params: { key }, body }).then(setBegun)}
    >
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <NumberField
          name="resultDays"
          label="Results are kept for"
          description="Days after the end; empty: as the operator sets"
          min={1}
        />
        <NumberField
          name="logDays"
          label="Logs are kept for"
          description="Days; not for longer than the results"
          min={1}
        />
        <ChoiceField
          name="logs"
          label="Logs of what other organisations start"
          description="Who started it may share them with the provider besides"
          options={[
            { value: "caller", label: "Who started it reads them" },
            { value: "provider", label: "Who started it does not read them" },
          ]}
        />
      </SimpleGrid>
    </SchemaBackedForm>
  );
}
