import { Alert, Button, Group, Paper, Text } from "@mantine/core";
import { useState } from "react";
import type { Backend } from "@platform/contract/quantum-api/backends";
import { JOB_STATE_WORDS } from "@platform/contract/quantum-api/states";
import { useText } from "../api/content.ts";
import { q, REFRESH_MS, useChange, useFetched } from "../api/queries.ts";
import { Estimate } from "../quantum/estimate.tsx";
import { readEstimate } from "../quantum/read-estimate.ts";
import { Can } from "../ui/can.tsx";
import { Failure } from "../ui/failure.tsx";
import { createKey } from "../util/keys.ts";
import { toBody } from "./circuit-body.ts";
import type { EnteredJob } from "./circuit-body.ts";
import { withoutEmpty } from "./form-values.ts";
import { useFormContext } from "./schema-backed-form.tsx";

/** What has become of the wish for an estimate. */
type Asked = { readonly id: string } | { readonly error: unknown };

/** What decides about an estimate: when it is changed, the former one is none any more. */
const DECIDES = ["input", "shots", "input_params.seed"] as const;

/** Has the backend check what the form around it holds, and says what it would cost. */
export function EstimateJob({ backend }: { readonly backend: Backend }) {
  const form = useFormContext();
  const start = useChange("createQuantumJob", { refresh: ["listExecutions", "countExecutions"] });
  const [asked, setAsked] = useState<Asked | null>(null);
  for (const name of DECIDES) form.watch(name, () => setAsked(null));
  const readDeciding = () => {
    const { input, shots, input_params: params } = form.getValues() as Partial<EnteredJob>;
    return JSON.stringify([input, shots, params]);
  };
  const estimate = async (): Promise<Asked> => {
    const entered: unknown = withoutEmpty(form.getValues());
    const { max_cost: _most, name: _name, tags: _tags, ...job } = toBody(entered as EnteredJob, backend);
    return await start.run({ body: { ...job, dry_run: true }, idempotencyKey: createKey() });
  };
  const ask = async () => {
    setAsked(null);
    const before = readDeciding();
    const found = await estimate().catch((error: unknown) => ({ error }));
    // An answer that comes after a change is of what was there before.
    if (readDeciding() === before) setAsked(found);
  };
  return (
    <>
      <Group gap="sm">
        <Can op="createQuantumJob">
          <Button variant="default" size="xs" loading={start.isRunning} onClick={() => void ask()}>
            Check and estimate
          </Button>
        </Can>
        <Text fz="sm" c="dimmed">
          The backend checks it; nothing is run, and it costs nothing.
        </Text>
      </Group>
      {asked !== null && ("id" in asked ? <Checked id={asked.id} /> : <Failure error={asked.error} />)}
    </>
  );
}

/** Long enough for most, so that it is asked for once. */
const WAIT = "wait=20";

/** What a dry run has found out. */
function Checked({ id }: { readonly id: string }) {
  const { data: job, error } = useFetched(q("getQuantumJob", { params: { id }, prefer: WAIT }), {
    refresh: ({ status }) => (JOB_STATE_WORDS[status].isFinal ? false : REFRESH_MS.unfinished),
  });
  const result = useText("getQuantumJobResult", { params: { id } }, job?.status === "COMPLETED");
  const failure = error ?? result.error;
  if (failure !== null) return <Failure error={failure} />;
  if (job !== undefined && job.error !== null)
    return (
      <Alert color="red" variant="light" title="The backend would not run it" role="alert">
        <Text fz="sm" c="var(--mantine-color-text)" style={{ overflowWrap: "anywhere" }}>
          <span className="mono">{job.error.code}</span> {job.error.detail}
        </Text>
      </Alert>
    );
  const estimate = result.data === undefined ? null : readEstimate(result.data);
  return (
    <Paper withBorder p="sm" radius="md" role="status" aria-label="Estimate">
      {estimate === null ? <Text fz="sm">The backend checks it …</Text> : <Estimate of={estimate} />}
    </Paper>
  );
}
