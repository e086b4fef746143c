import { Button, Group, NativeSelect, Switch, Text, TextInput } from "@mantine/core";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useDeferredValue, useLayoutEffect, useMemo, useRef, useState } from "react";
import type { RefObject } from "react";
import { saveText } from "../ui/save.ts";
import { readStored } from "../util/storage.ts";
import { formatSortable, parseTimestamp } from "../util/times.ts";
import { countOf, formatCount } from "../util/units.ts";
import { SEVERITIES, selectLines } from "./select-lines.ts";
import type { LogLine, LogSnapshot } from "./log-store.ts";
import "./log-view.css";

const LINE_PIXELS = 20;
/** Free above the first line and below the last one. */
const EDGE_PIXELS = 8;
/** This close to the end is at the end. */
const NEAR_PIXELS = 24;

interface LogViewProps {
  readonly log: LogSnapshot;
  /** Of the file that it is saved as. */
  readonly fileName: string;
}

/** A log: only the lines that are seen are drawn. It follows the end until the reader scrolls up, and again when they come back to it. */
export function LogView({ log, fileName }: LogViewProps) {
  const [severity, setSeverity] = useState("");
  const [sought, setSought] = useState("");
  const [isWrapped, setIsWrapped] = useState(false);
  const words = useDeferredValue(sought);
  const lines = useMemo(() => selectLines(log.lines, severity, words), [log.lines, severity, words]);
  const { region, isFollowing, follow, onScroll } = useFollow();
  return (
    <div>
      <Group gap="sm" mb="xs" align="flex-end">
        <TextInput
          label="Find in the log"
          value={sought}
          onChange={({ currentTarget }) => setSought(currentTarget.value)}
          style={{ flex: "1 1 200px" }}
          autoComplete="off"
        />
        <NativeSelect
          label="Severity"
          value={severity}
          onChange={({ currentTarget }) => setSeverity(currentTarget.value)}
          data={[
            { value: "", label: "All" },
            ...SEVERITIES.map((name) => ({ value: name, label: `${name} and above` })),
          ]}
        />
        <Switch
          label="Wrap lines"
          checked={isWrapped}
          onChange={({ currentTarget }) => setIsWrapped(currentTarget.checked)}
          mb={8}
        />
        <Button variant="default" aria-keyshortcuts="f" aria-pressed={isFollowing} onClick={follow}>
          {isFollowing ? "Following" : "Go to the end"}
        </Button>
        <Button variant="default" onClick={() => saveText(fileName, toText(log.lines))}>
          Download
        </Button>
      </Group>
      <Lines
        key={String(isWrapped)}
        lines={lines}
        isWrapped={isWrapped}
        region={region}
        onScroll={onScroll}
      />
      <Text fz="sm" c="dimmed" mt={6} role="status">
        {describe(log, lines.length)}
      </Text>
    </div>
  );
}

/** Stays at the end as long as the reader does not scroll up. */
function useFollow() {
  const region = useRef<HTMLDivElement>(null);
  const [isFollowing, setIsFollowing] = useState(true);
  // Read by the layout of new lines, which can come before React has drawn what a scroll has changed.
  const following = useRef(true);
  const last = useRef(0);
  const setFollowing = (is: boolean) => {
    following.current = is;
    setIsFollowing(is);
  };
  const goToEnd = () => {
    const element = region.current;
    if (element === null) return;
    element.scrollTop = element.scrollHeight;
    last.current = element.scrollTop;
  };
  useLayoutEffect(() => {
    if (following.current) goToEnd();
  });
  return {
    region,
    isFollowing,
    follow: () => {
      setFollowing(true);
      goToEnd();
    },
    onScroll: () => {
      const element = region.current;
      if (element === null) return;
      const { scrollTop, scrollHeight, clientHeight } = element;
      const isAtEnd = scrollHeight - scrollTop - clientHeight < NEAR_PIXELS;
      // New lines alone move the end away from what is seen: only the reader scrolls up.
      if (isAtEnd) setFollowing(true);
      else if (scrollTop < last.current - 1) setFollowing(false);
      last.current = scrollTop;
    },
  };
}

interface LinesProps {
  readonly lines: readonly LogLine[];
  readonly isWrapped: boolean;
  readonly region: RefObject<HTMLDivElement | null>;
  readonly onScroll: () => void;
}

function Lines({ lines, isWrapped, region, onScroll }: LinesProps) {
  const zone = readStored("times") === "utc" ? "utc" : "local";
  // oxlint-disable-next-line react/incompatible-library -- It concerns React's compiler, which this console is not built with.
  const rows = useVirtualizer({
    count: lines.length,
    getScrollElement: () => region.current,
    estimateSize: () => LINE_PIXELS,
    overscan: 20,
    paddingStart: EDGE_PIXELS,
    paddingEnd: EDGE_PIXELS,
  });
  return (
    <div
      ref={region}
      className="log"
      role="log"
      aria-live="off"
      aria-label="Log"
      tabIndex={0}
      data-wrapped={isWrapped || undefined}
      onScroll={onScroll}
    >
      <div style={{ height: rows.getTotalSize(), position: "relative" }}>
        {rows.getVirtualItems().map(({ index, start, key }) => {
          const line = lines[index];
          if (line === undefined) return null;
          return (
            <div
              key={key}
              ref={isWrapped ? rows.measureElement : null}
              data-index={index}
              data-severity={line.severity}
              className="log-line"
              style={{ transform: `translateY(${start}px)` }}
            >
              <span className="log-time">{formatSortable(parseTimestamp(line.timestamp), zone)}</span>{" "}
              <span className="log-severity">{line.severity}</span> {line.message}
            </div>
          );
        })}
      </div>
    </div>
  );
}

function describe({ lines, hasEnded, dropped }: LogSnapshot, shown: number): string {
  const parts = [
    lines.length === 0 && dropped === 0
      ? hasEnded
        ? "It has written nothing."
        : "No lines yet."
      : countOf(lines.length + dropped, "line"),
  ];
  if (shown !== lines.length) parts.push(`${formatCount(shown)} shown`);
  if (dropped > 0) parts.push(`the first ${formatCount(dropped)} are not kept on this page`);
  if (!hasEnded && lines.length > 0) parts.push("more may come");
  return parts.join(", ");
}

/** A log as a file. */
function toText(lines: readonly LogLine[]): string {
  return lines.map(({ timestamp, severity, message }) => `${timestamp} ${severity} ${message}\n`).join("");
}
