import { Alert, Skeleton, Text } from "@mantine/core";
import type { LocalTry } from "@platform/contract/local-try";
import type { LocalApi } from "../api/local.ts";
import { PageHeader } from "../ui/page-header.tsx";
import { Failure } from "../ui/failure.tsx";
import { SchemeButton } from "./scheme-button.tsx";
import { useProject } from "./use-project.ts";
import { Workbench } from "./workbench.tsx";

/** The page of `platform serve`: what subscribers will see of the service, on the machine of who writes it. */
export function TryPage({ api }: { readonly api: LocalApi }) {
  const { project, error } = useProject(api);
  return (
    <>
      <header className="shell-header">
        <span className="shell-name">Platform</span>
        <Text component="span" c="dimmed" fz="sm" className="shell-wide">
          on this machine
        </Text>
        <span className="shell-space" />
        <nav className="local-links" aria-label="Elsewhere on this server">
          <a href="/docs">API</a>
          <a href="/openapi.json">OpenAPI</a>
        </nav>
        <SchemeButton />
      </header>
      <main className="local-main">
        <PageHeader
          title={project === null ? "Try it" : `Try ${project.name}`}
          description="It runs the code as it is saved now. The form is the one that callers of the deployed service see."
        />
        <div className="local-notes" id="notes" aria-live="polite">
          {error !== null && <Unreachable error={error} />}
          {project !== null && <ProjectNotes project={project} />}
        </div>
        {project !== null ? (
          <Workbench api={api} project={project} />
        ) : (
          error === null && <Skeleton height={320} role="status" aria-label="Loading the project" />
        )}
      </main>
    </>
  );
}

function Unreachable({ error }: { readonly error: unknown }) {
  if (!(error instanceof TypeError)) return <Failure error={error} />;
  return (
    <Alert color="red" variant="light" title="The server does not answer">
      <Text fz="sm">
        Start it again in the folder of the project: <span className="mono">platform serve</span>. This page
        goes on by itself as soon as it is there.
      </Text>
    </Alert>
  );
}

/** What is wrong with the project as it is saved. */
function ProjectNotes({ project: { failure, reloadFault, exampleNotes } }: { readonly project: LocalTry }) {
  return (
    <>
      {reloadFault !== null && (
        <Alert color="orange" variant="light" title="The last edit is not served">
          <Text fz="sm">{reloadFault} The version before it is still served.</Text>
        </Alert>
      )}
      {failure !== null && (
        <Alert color="red" variant="light" title="The code cannot be loaded">
          <Text fz="sm">
            <span className="mono">{failure.code}</span> {failure.detail}
          </Text>
          <Text fz="sm" mb={failure.traceback === null ? 0 : "xs"}>
            Every execution fails with this until it is fixed. It is reloaded when you save.
          </Text>
          {failure.traceback !== null && (
            <div className="code-block">
              <pre tabIndex={0} role="region" aria-label="Traceback">
                {failure.traceback.trimEnd()}
              </pre>
            </div>
          )}
        </Alert>
      )}
      {exampleNotes.length > 0 && (
        <Alert color="gray" variant="default" title="Others will not see the example" role="note">
          <Text fz="sm">A deployed version shows none, since {exampleNotes.join(", and ")}.</Text>
        </Alert>
      )}
    </>
  );
}
