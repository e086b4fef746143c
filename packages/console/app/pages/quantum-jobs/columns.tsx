import { Group, Text } from "@mantine/core";
import type { QuantumJob } from "@platform/contract/quantum-api/jobs";
import { shortenId } from "../../execution/kinds.ts";
import { JobStateBadge } from "../../quantum/states.tsx";
import type { Column } from "../../table/data-table.tsx";
import { AppLink } from "../../ui/link.tsx";
import { Time } from "../../ui/time.tsx";
import { formatDuration } from "../../util/times.ts";
import { formatCount } from "../../util/units.ts";

/** Columns of the list of quantum jobs. */
export function createColumns(org: string): readonly Column<QuantumJob>[] {
  return [
    {
      id: "state",
      label: "State",
      cell: ({ status, error }) => (
        <>
          <JobStateBadge status={status} />
          {error !== null && status === "FAILED" && (
            <Text fz="sm" c="dimmed" className="mono">
              {error.code}
            </Text>
          )}
        </>
      ),
    },
    {
      id: "job",
      label: "Job",
      cell: ({ id, name }) => (
        <AppLink
          to="/o/$org/quantum-jobs/$id"
          params={{ org, id }}
          title={id}
          style={{ overflowWrap: "anywhere" }}
          {...(name === null || name.trim() === "" ? { className: "mono" } : {})}
        >
          {name === null || name.trim() === "" ? shortenId(id) : <bdi>{name}</bdi>}
        </AppLink>
      ),
    },
    {
      id: "backend",
      label: "Backend",
      cell: ({ backend_id: id, backend_version: version }) => (
        <span className="data-line">
          <span className="mono">{id}</span>{" "}
          <Text span inherit c="dimmed">
            {version}
          </Text>
        </span>
      ),
    },
    { id: "tags", label: "Tags", cell: ({ tags }) => <Tags org={org} of={tags} />, priority: 3 },
    {
      id: "shots",
      label: "Shots",
      align: "end",
      cell: ({ shots }) => (shots === null ? "-" : formatCount(shots)),
    },
    { id: "created", label: "Created", cell: ({ created_at: at }) => <Time at={at} /> },
    {
      id: "ran",
      label: "Ran",
      align: "end",
      cell: ({ usage_time_millis: ran }) => (ran === null ? "-" : formatDuration(ran)),
      priority: 3,
    },
  ];
}

/** Tags that a row shows. */
const MOST_TAGS = 4;

interface TagsProps {
  readonly org: string;
  readonly of: readonly string[];
  readonly most?: number;
}

/** Tags of a job, each with the list of all that have it. */
export function Tags({ org, of: tags, most = MOST_TAGS }: TagsProps) {
  if (tags.length === 0) return <>-</>;
  const shown = [...new Set(tags)].slice(0, most);
  return (
    <Group gap="4px 10px">
      {shown.map((tag) => (
        <AppLink
          key={tag}
          to="/o/$org/quantum-jobs"
          params={{ org }}
          search={{ tag }}
          fz="sm"
          style={{ overflowWrap: "anywhere" }}
        >
          {tag}
        </AppLink>
      ))}
      {tags.length > shown.length && (
        <Text span fz="sm" c="dimmed">
          and {tags.length - shown.length} more
        </Text>
      )}
    </Group>
  );
}
