import { Alert, List, Text } from "@mantine/core";
import { useText } from "../../api/content.ts";
import type { Execution } from "../../execution/advice.ts";
import { SHOWN_BYTES } from "../../execution/json-view.tsx";
import { readOmitted } from "../../execution/read-omitted.ts";
import { sliceMember } from "../../util/exact-json.ts";

/** What the code has left that is none of the files, and why; nothing where there is none of it. */
export function OmittedFiles({ execution }: { readonly execution: Execution }) {
  const { id, resultBytes, terminal, areContentsShown } = execution;
  const hasResult = terminal && areContentsShown && resultBytes !== undefined;
  const isSmall = hasResult && resultBytes <= SHOWN_BYTES;
  const { data } = useText("getExecutionResult", { params: { id } }, isSmall);
  if (hasResult && !isSmall)
    return (
      <Text fz="sm" c="dimmed">
        What was left out is in the metadata of the result, as <span className="mono">_omittedFiles</span>.
      </Text>
    );
  const omitted = readOmitted(data === undefined ? null : sliceMember(data, "metadata"));
  if (omitted.length === 0) return null;
  return (
    <Alert variant="light" color="yellow" title="Left out">
      <List aria-label="Left out" size="sm" c="var(--mantine-color-text)">
        {omitted.map(({ name, reason }) => (
          <List.Item key={name} style={{ overflowWrap: "anywhere" }}>
            <span className="mono">{name}</span>: {reason}
          </List.Item>
        ))}
      </List>
    </Alert>
  );
}
