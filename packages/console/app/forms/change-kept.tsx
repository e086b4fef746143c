import { SimpleGrid } from "@mantine/core";
import { useState } from "react";
import { SERVICES_API } from "@platform/contract/platform-api/services";
import type { Service } from "@platform/contract/platform-api/services";
import type { FieldsOf } from "../api/client.ts";
import { q, useChange } from "../api/queries.ts";
import { ChoiceField, NumberField } from "./fields.tsx";
import type { FormValues } from "./form-values.ts";
import { SchemaBackedForm } from "./schema-backed-form.tsx";
import { useSendChanged } from "./use-send-changed.ts";

type Kept = Pick<Service, "logs" | "resultDays" | "logDays">;

function pickKept({ logs, resultDays, logDays }: Kept) {
  return { logs, resultDays, logDays };
}

function toValues({ resultDays, logDays, logs }: Kept): FormValues {
  return { resultDays: resultDays ?? "", logDays: logDays ?? "", logs };
}

function toBody(values: FormValues): FormValues {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, value === "" ? null : value]),
  );
}

/**
 * For how long executions are kept, and who reads the logs of what subscribers start. What is entered stays when somebody else saves
 * meanwhile, and only what was changed is sent.
 */
export function ChangeKept({ service }: { readonly service: Service }) {
  const { key } = service;
  const [begun, setBegun] = useState(pickKept(service));
  const sendChanged = useSendChanged(begun);
  const put = useChange("putService", {
    done: "Saved.",
    gives: q("getService", { params: { key } }),
    refresh: ["getService", "listServices", "getMarketplaceEntry"],
  });
  return (
    <SchemaBackedForm<FieldsOf<"putService">, Service>
      schema={SERVICES_API.putService.body}
      initial={toValues(begun)}
      prepare={toBody}
      submitLabel="Save"
      submit={async (body) =>
        (await sendChanged(body, (changed) => put.run({ params: { key }, body: changed }))) ?? service
      }
      toSaved={toValues}
      onDone={(_sent, saved) => setBegun(pickKept(saved))}
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
