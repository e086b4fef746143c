import { SimpleGrid } from "@mantine/core";
import { SERVICES_API } from "@platform/contract/platform-api/services";
import type { Service } from "@platform/contract/platform-api/services";
import type { BodyOf } from "../api/client.ts";
import { useChange } from "../api/queries.ts";
import { ChoiceField, NumberField } from "./fields.tsx";
import { SchemaBackedForm } from "./schema-backed-form.tsx";

/** For how long executions are kept, and who reads the logs of what subscribers start. */
export function ChangeKept({ service: { key, logs, resultDays, logDays } }: { readonly service: Service }) {
  const put = useChange("putService", {
    done: "Saved.",
    refresh: ["getService", "listServices", "getMarketplaceEntry"],
  });
  return (
    <SchemaBackedForm<BodyOf<"putService">>
      schema={SERVICES_API.putService.body}
      initial={{ resultDays: resultDays ?? "", logDays: logDays ?? "", logs }}
      prepare={(values) => ({
        ...values,
        resultDays: orOperator(values["resultDays"]),
        logDays: orOperator(values["logDays"]),
      })}
      submitLabel="Save"
      submit={(body) => put.run({ params: { key }, body })}
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

function orOperator(days: unknown): unknown {
  return days === "" ? null : days;
}
