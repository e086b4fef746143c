import { Button, Group, Skeleton, Stack, Text } from "@mantine/core";
import { Suspense, useMemo, useState } from "react";
import { useText } from "../../api/content.ts";
import { isWithoutNormalForm } from "../../api/explain-error.ts";
import { JsonView, SHOWN_BYTES } from "../../execution/json-view.tsx";
import { describeMetadata } from "../../quantum/describe-metadata.ts";
import { Estimate } from "../../quantum/estimate.tsx";
import { readEstimate } from "../../quantum/read-estimate.ts";
import { readNormal, readResult } from "../../quantum/read-result.ts";
import type { ShownResult } from "../../quantum/read-result.ts";
import { Facts } from "../../ui/facts.tsx";
import { Failure } from "../../ui/failure.tsx";
import { sliceMember } from "../../util/exact-json.ts";
import { formatBytes } from "../../util/units.ts";
import { Estimates } from "./estimates.tsx";
import type { JobProps } from "./job-actions.tsx";
import { Measured } from "./measured.tsx";
import { Samples } from "./samples.tsx";

/** What the backend has returned. */
export function ResultTab({ job, execution }: JobProps) {
  const size = execution.resultBytes;
  const [isWanted, setIsWanted] = useState((size ?? 0) <= SHOWN_BYTES);
  const isThere = job.status === "COMPLETED";
  const { data, error, retry } = useText(
    "getQuantumJobResult",
    { params: { id: job.id } },
    isThere && isWanted,
  );
  if (!execution.terminal)
    return <Text c="dimmed">There is no result yet: the job has not ended. This page shows it then.</Text>;
  if (!isThere) return <Text c="dimmed">There is no result: the job did not complete.</Text>;
  if (!isWanted)
    return (
      <Stack align="flex-start">
        <Text>The result has {formatBytes(size ?? 0)}.</Text>
        <Button variant="default" onClick={() => setIsWanted(true)}>
          Show the result
        </Button>
      </Stack>
    );
  if (error !== null) return <Failure error={error} retry={retry} />;
  if (data === undefined) return <Skeleton h={240} />;
  const estimate = job.dry_run ? readEstimate(data) : null;
  return estimate === null ? <Result text={data} id={job.id} /> : <Estimate of={estimate} />;
}

const HEIGHT = 240;

interface ResultProps {
  readonly text: string;
  readonly id: string;
}

function Result({ text, id }: ResultProps) {
  const own = useMemo(() => readResult(text), [text]);
  // What another SDK has asked for has an order of bits of its own, which the platform knows.
  const isOther = own.kind === "other";
  const { data, error } = useText("getNormalQuantumJobResult", { params: { id } }, isOther);
  const result = useMemo(() => (data === undefined ? own : readNormal(data)), [data, own]);
  if (isOther && data === undefined && error === null) return <Skeleton h={HEIGHT} />;
  return (
    <Suspense fallback={<Skeleton h={HEIGHT} />}>
      <Stack gap="lg">
        <Known of={result} id={id} />
        <Metadata text={sliceMember(text, "metadata")} />
        <AsJson
          text={text}
          id={id}
          isAlone={result.kind === "other"}
          hasNormal={!isWithoutNormalForm(error)}
        />
      </Stack>
    </Suspense>
  );
}

interface AsJsonProps extends ResultProps {
  /** Nothing else shows what the result is. */
  readonly isAlone: boolean;
  readonly hasNormal: boolean;
}

/** The result as JSON: as the backend has returned it, and in the form that is the same for all. */
function AsJson({ text, id, isAlone, hasNormal }: AsJsonProps) {
  const [shown, show] = useState<"returned" | "normal" | null>(isAlone ? "returned" : null);
  return (
    <Stack>
      <Group gap="xs">
        {shown !== "returned" && (
          <Button variant="default" onClick={() => show("returned")}>
            Show the result as JSON
          </Button>
        )}
        {shown !== "normal" && hasNormal && (
          <Button variant="default" onClick={() => show("normal")}>
            Show its normal form
          </Button>
        )}
      </Group>
      {shown === "returned" && <JsonView text={text} what="Result" fileName={`${id}-result.json`} />}
      {shown === "normal" && <NormalForm id={id} />}
    </Stack>
  );
}

function NormalForm({ id }: { readonly id: string }) {
  const { data, error, retry } = useText("getNormalQuantumJobResult", { params: { id } }, true);
  if (error !== null) return <Failure error={error} retry={retry} />;
  if (data === undefined) return <Skeleton h={HEIGHT} />;
  return (
    <>
      <Text fz="sm" c="dimmed" maw="70ch">
        Counts by bits (the first qubit stands last), expectation values or samples: the same form whatever
        SDK has sent the job.
      </Text>
      <JsonView text={data} what="Normal form" fileName={`${id}-normal.json`} />
    </>
  );
}

function Known({ of: result, id }: { readonly of: ShownResult; readonly id: string }) {
  switch (result.kind) {
    case "measured":
      return <Measured circuits={result.circuits} id={id} />;
    case "estimated":
      return <Estimates circuits={result.circuits} />;
    case "sampled":
      return <Samples of={result.samples} id={id} />;
    case "other":
      return null;
    default:
      return result satisfies never;
  }
}

/** What the backend says about how it was computed. */
function Metadata({ text }: { readonly text: string | null }) {
  const facts = text === null ? {} : describeMetadata(text);
  return Object.keys(facts).length === 0 ? null : (
    <section aria-label="Metadata">
      <Facts of={facts} />
    </section>
  );
}
