import { Alert, Button, Skeleton, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { useText } from "../../api/content.ts";
import type { Execution } from "../../execution/advice.ts";
import { JsonView, SHOWN_BYTES } from "../../execution/json-view.tsx";
import { Failure } from "../../ui/failure.tsx";
import { formatBytes } from "../../util/units.ts";
import { sliceMember } from "../../util/exact-json.ts";

/** Input or result as the platform has them. */
export function TextTab({
  execution,
  part,
}: {
  readonly execution: Execution;
  readonly part: "input" | "result";
}) {
  if (!execution.areContentsShown)
    return (
      <Alert variant="light" title="Not shown">
        <Text fz="sm" c="var(--mantine-color-text)">
          Input and result belong to the subscriber. The provider of a service sees states, codes and times.
        </Text>
      </Alert>
    );
  if (part === "result" && !execution.terminal)
    return <Text c="dimmed">There is no result yet: the execution has not ended.</Text>;
  const size = part === "input" ? execution.inputBytes : execution.resultBytes;
  if (part === "input" && size === undefined) return <Text c="dimmed">The input is not kept any more.</Text>;
  if (part === "result" && size === undefined) return <NoResult execution={execution} />;
  return <OnDemand id={execution.id} part={part} bytes={size ?? 0} />;
}

/** One that did not succeed may have a partial result, and metadata. */
function NoResult({ execution }: { readonly execution: Execution }) {
  const { data } = useText("getExecutionResult", { params: { id: execution.id } }, true);
  const partial = data === undefined ? null : sliceMember(data, "result");
  return (
    <Stack>
      <Text c="dimmed">There is no result: the execution did not succeed.</Text>
      {partial !== null && (
        <>
          <Text>This is the last checkpoint that its code has made:</Text>
          <JsonView text={partial} what="Partial result" fileName={`${execution.id}-partial.json`} />
        </>
      )}
    </Stack>
  );
}

interface OnDemandProps {
  readonly id: string;
  readonly part: "input" | "result";
  readonly bytes: number;
}

/** What is large is loaded when it is wanted. */
function OnDemand({ id, part, bytes }: OnDemandProps) {
  const [isWanted, setIsWanted] = useState(bytes <= SHOWN_BYTES);
  const { data, error, retry } = useText(
    part === "input" ? "getExecutionInput" : "getExecutionResult",
    { params: { id } },
    isWanted,
  );
  if (!isWanted)
    return (
      <Stack align="flex-start">
        <Text>
          The {part} has {formatBytes(bytes)}.
        </Text>
        <Button variant="default" onClick={() => setIsWanted(true)}>
          Show the {part}
        </Button>
      </Stack>
    );
  if (error !== null) return <Failure error={error} retry={retry} />;
  if (data === undefined) return <Skeleton h={240} />;
  const text = part === "input" ? data : (sliceMember(data, "result") ?? data);
  const metadata = part === "result" ? sliceMember(data, "metadata") : null;
  return (
    <Stack>
      <JsonView text={text} what={part === "input" ? "Input" : "Result"} fileName={`${id}-${part}.json`} />
      {metadata !== null && metadata !== "null" && (
        <details>
          <summary>Metadata</summary>
          <JsonView text={metadata} what="Metadata" fileName={`${id}-metadata.json`} />
        </details>
      )}
    </Stack>
  );
}
