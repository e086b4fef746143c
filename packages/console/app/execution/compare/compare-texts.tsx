import { Skeleton, Text, Title } from "@mantine/core";
import { useMemo } from "react";
import { useText } from "../../api/content.ts";
import { DataTable } from "../../table/data-table.tsx";
import type { Column } from "../../table/data-table.tsx";
import { Failure } from "../../ui/failure.tsx";
import { compareJson, parseExact, sliceMember } from "../../util/exact-json.ts";
import type { JsonDifference } from "../../util/exact-json.ts";
import type { Execution } from "../advice.ts";
import { SHOWN_BYTES } from "../json-view.tsx";

/** Differences that are shown. */
const MOST = 200;
/** Characters of a value that are shown. */
const MOST_SHOWN = 300;

interface CompareTextsProps {
  readonly first: Execution;
  readonly second: Execution;
  readonly part: "input" | "result";
}

/** Where input or result of two executions differ, place by place. */
export function CompareTexts({ first, second, part }: CompareTextsProps) {
  const title = part === "input" ? "Input" : "Result";
  const why = whyNot(first, second, part);
  return (
    <section aria-label={title}>
      <Title order={2} fz="lg" mb="xs">
        {title}
      </Title>
      {why === null ? (
        <Differences first={first} second={second} part={part} />
      ) : (
        <Text c="dimmed">{why}</Text>
      )}
    </section>
  );
}

function whyNot(first: Execution, second: Execution, part: "input" | "result"): string | null {
  const both = [first, second];
  if (both.some(({ areContentsShown }) => !areContentsShown))
    return "Contents of incoming executions belong to the subscriber.";
  const sizes = both.map(({ inputBytes, resultBytes }) => (part === "input" ? inputBytes : resultBytes));
  if (sizes.some((bytes) => bytes === undefined))
    return part === "input"
      ? "The input of one of them is not kept any more."
      : "Not both of them have a result.";
  return sizes.some((bytes) => (bytes ?? 0) > SHOWN_BYTES) ? "They are too large to be compared here." : null;
}

function Differences({ first, second, part }: CompareTextsProps) {
  const before = useText(opOf(part), { params: { id: first.id } }, true);
  const after = useText(opOf(part), { params: { id: second.id } }, true);
  const found = useMemo(() => {
    if (before.data === undefined || after.data === undefined) return undefined;
    const values = [before.data, after.data].map((text) =>
      parseExact(part === "input" ? text : (sliceMember(text, "result") ?? text)),
    );
    const [one, other] = values;
    return one && other ? compareJson(one, other, MOST) : null;
  }, [before.data, after.data, part]);
  const error = before.error ?? after.error;
  if (error !== null)
    return <Failure error={error} retry={before.error === null ? after.retry : before.retry} />;
  if (found === undefined) return <Skeleton h={80} />;
  if (found === null) return <Text c="dimmed">They are too deep to be compared here.</Text>;
  return (
    <>
      {found.length === MOST && <Text>These are the first {MOST} differences.</Text>}
      <DataTable
        label={`Differences of the ${part}`}
        columns={COLUMNS}
        rows={found}
        rowKey={({ path }) => path}
        empty={<Text>Both have the same {part}.</Text>}
      />
    </>
  );
}

const opOf = (part: "input" | "result") => (part === "input" ? "getExecutionInput" : "getExecutionResult");

const COLUMNS: readonly Column<JsonDifference>[] = [
  {
    id: "path",
    label: "Place",
    cell: ({ path }) => <span className="mono place">{path === "" ? "the whole" : path}</span>,
  },
  { id: "before", label: "First", cell: ({ before }) => <Shown text={before} /> },
  { id: "after", label: "Second", cell: ({ after }) => <Shown text={after} /> },
];

function Shown({ text }: { readonly text: string | null }) {
  if (text === null)
    return (
      <Text span inherit c="dimmed">
        not there
      </Text>
    );
  return <span className="mono">{text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)} …` : text}</span>;
}
