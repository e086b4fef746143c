import { Alert, Group, Stack, Text } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import type { Build, BuildSummary } from "@platform/contract/platform-api/builds";
import type { ServerEvent } from "@platform/contract/event-stream";
import { makeStale } from "../../api/queries.ts";
import { useScope } from "../../api/scope.tsx";
import { useStream } from "../../api/stream.ts";
import { StateBadge } from "../../execution/state-badge.tsx";
import { Failure } from "../../ui/failure.tsx";
import { formatCount } from "../../util/units.ts";
import { adviseBuild } from "./build-advice.ts";

interface BuildLogProps {
  readonly serviceKey: string;
  readonly version: string;
}

type Lines = { readonly offset: number; readonly lines: Build["log"] };

/** The latest build of a version: its state, and its log as it grows. */
export function BuildLog({ serviceKey, version }: BuildLogProps) {
  const scope = useScope();
  const [build, setBuild] = useState<BuildSummary | null>(null);
  const [lines, setLines] = useState<readonly string[]>([]);
  const [refusal, setRefusal] = useState<unknown>(null);
  useStream(
    "followBuild",
    { params: { key: serviceKey, version } },
    {
      onRefused: setRefusal,
      onEvent: ({ event, data }: ServerEvent) => {
        if (event === "state") setBuild(JSON.parse(data) as BuildSummary);
        if (event === "log") setLines((before) => join(before, JSON.parse(data) as Lines));
        if (event !== "end") return "more";
        void makeStale(scope, ["getVersion", "getService", "listVersions", "listBuilds"]);
        return "end";
      },
    },
  );
  if (refusal !== null) return <Failure error={refusal} />;
  if (build === null) return <Text c="dimmed">Asking for the build</Text>;
  const advice = adviseBuild(build.code);
  return (
    <Stack>
      <Group>
        <StateBadge status={build.status} code={build.code} />
        {build.buildsBefore !== undefined && <Text fz="sm">{describeTurn(build.buildsBefore)}</Text>}
      </Group>
      {build.detail !== undefined && (
        <Alert color="red" variant="light" title="There is no version">
          <Text style={{ overflowWrap: "anywhere" }}>{build.detail}</Text>
          {advice !== null && (
            <Text mt="xs">
              <b>What to do:</b> {advice} Versions that are live stay so.
            </Text>
          )}
        </Alert>
      )}
      <LogText lines={lines} isLive={!build.terminal} />
    </Stack>
  );
}

function describeTurn(before: number): string {
  if (before === 0) return "Next: it waits for a builder.";
  return `Waiting: ${formatCount(before)} ${before === 1 ? "build is" : "builds are"} before it.`;
}

/** A stream that was cut off begins again with lines that may be there already. */
function join(before: readonly string[], { offset, lines }: Lines): readonly string[] {
  return [...before.slice(0, offset), ...lines];
}

/** Follows the end while the reader is there. */
function LogText({ lines, isLive }: { readonly lines: readonly string[]; readonly isLive: boolean }) {
  const box = useRef<HTMLPreElement>(null);
  const isAtEnd = useRef(true);
  useEffect(() => {
    const { current } = box;
    if (current !== null && isAtEnd.current) current.scrollTop = current.scrollHeight;
  });
  return (
    <div className="code-block">
      <pre
        ref={box}
        tabIndex={0}
        role="log"
        aria-label="Log of the build"
        aria-busy={isLive}
        onScroll={({ currentTarget: { scrollTop, clientHeight, scrollHeight } }) => {
          isAtEnd.current = scrollTop + clientHeight >= scrollHeight - 4;
        }}
        style={{ maxHeight: 480, overflow: "auto" }}
      >
        {lines.length === 0 ? "The log is empty." : lines.join("\n")}
      </pre>
    </div>
  );
}
