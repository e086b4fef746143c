import { pages, useChange, useLoadedPages } from "../../api/queries.ts";
import type { ItemOf } from "../../api/client.ts";
import { DataTable } from "../../table/data-table.tsx";
import type { Column } from "../../table/data-table.tsx";
import { ConfirmButton } from "../../ui/confirm.tsx";
import { CopyAs } from "../../ui/copy-as.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Time } from "../../ui/time.tsx";
import { formatCount } from "../../util/units.ts";
import { OperatorFrame } from "./operator-frame.tsx";

type Worker = ItemOf<"listWorkers">;

/** Workers report every few seconds. */
const REFRESH_WORKERS_MS = 5_000;

/** What runs executions, and the means to take it out of use. */
export function WorkersPage() {
  const workers = useLoadedPages(pages("listWorkers", {}), { refresh: REFRESH_WORKERS_MS });
  return (
    <OperatorFrame
      title="Workers"
      description="Processes that run executions. One that stopped is not listed; one that was lost is for an hour."
      actions={<CopyAs op="listWorkers" request={{}} command="platform operator workers" />}
    >
      <DataTable
        label="Workers"
        columns={COLUMNS}
        rows={workers}
        rowKey={({ id }) => id}
        empty={
          <EmptyState title="No worker" command="npm start -- --role worker">
            Executions wait until a process with the role worker runs. None has reported within the last hour.
          </EmptyState>
        }
      />
    </OperatorFrame>
  );
}

const COLUMNS: readonly Column<Worker>[] = [
  {
    id: "host",
    label: "Worker",
    cell: ({ host, id }) => (
      <span>
        {host ?? "Host not reported"} <span className="mono">{id.slice(0, 8)}</span>
      </span>
    ),
  },
  { id: "state", label: "State", cell: (worker) => <State of={worker} /> },
  {
    id: "running",
    label: "Runs",
    align: "end",
    cell: ({ running, builds }) =>
      builds === 0 ? formatCount(running) : `${formatCount(running)} + ${formatCount(builds)} builds`,
  },
  {
    id: "vcpu",
    label: "vCPU used",
    align: "end",
    cell: ({ used, capacity }) => `${formatCount(used.cpu)} of ${formatCount(capacity.cpu)}`,
  },
  {
    id: "memory",
    label: "GB used",
    align: "end",
    cell: ({ used, capacity }) => `${formatCount(used.memory)} of ${formatCount(capacity.memory)}`,
  },
  {
    id: "level",
    label: "Isolation",
    cell: ({ sandbox }) => (sandbox === null ? "not reported" : `Level ${sandbox.level}`),
    priority: 3,
  },
  { id: "python", label: "Python", cell: ({ pythons }) => pythons.join(", "), priority: 3 },
  { id: "started", label: "Started", cell: ({ startedAt }) => <Time at={startedAt} />, priority: 3 },
  { id: "actions", label: "", align: "end", cell: (worker) => <DrainButton of={worker} /> },
];

/** In words: what it does, and of one that is silent, what comes next. */
function State({ of: { live, draining, running, builds, lastSeenAt } }: { readonly of: Worker }) {
  if (!live)
    return (
      <div>
        <span className="state">
          <span className="state-dot" data-state="UNKNOWN" aria-hidden />
          Silent
        </span>
        <div>
          Last seen <Time at={lastSeenAt} />.{" "}
          {running === 0
            ? "It runs nothing any more."
            : "What it had begun becomes UNKNOWN when its lease ends; what had not begun is given to others."}
        </div>
      </div>
    );
  if (!draining)
    return (
      <span className="state">
        <span className="state-dot" data-state="SUCCEEDED" aria-hidden />
        Takes work
      </span>
    );
  return (
    <div>
      <span className="state">
        <span className="state-dot" data-state="PENDING" aria-hidden />
        Drains
      </span>
      <div>
        It takes no more work.{" "}
        {running + builds === 0 ? "It runs nothing: it can be stopped." : "What it runs goes on to its end."}
      </div>
    </div>
  );
}

function DrainButton({ of: { id, host, live, draining } }: { readonly of: Worker }) {
  const refresh = ["listWorkers"] as const;
  const drain = useChange("drainWorker", { done: "It takes no more work.", refresh });
  const resume = useChange("resumeWorker", { done: "It takes work again within seconds.", refresh });
  const request = { params: { workerId: id } };
  const name = host ?? id.slice(0, 8);
  if (draining)
    return (
      <ConfirmButton
        op="resumeWorker"
        label="Resume"
        question={`Have the worker on ${name} take work again?`}
        button={{ size: "compact-sm" }}
        run={() => resume.run(request)}
      >
        It claims executions and builds again within seconds.
      </ConfirmButton>
    );
  if (!live) return null;
  return (
    <ConfirmButton
      op="drainWorker"
      label="Drain"
      question={`Have the worker on ${name} take no more work?`}
      button={{ size: "compact-sm" }}
      run={() => drain.run(request)}
    >
      What it runs goes on to its end; nothing new begins there until it is resumed, or its process ends.
    </ConfirmButton>
  );
}
