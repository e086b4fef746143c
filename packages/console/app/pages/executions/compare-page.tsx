import { Stack, Text } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { q, useLoaded } from "../../api/queries.ts";
import { useOrganisation } from "../../api/scope.tsx";
import { CompareFacts } from "../../execution/compare/compare-facts.tsx";
import { CompareLogs } from "../../execution/compare/compare-logs.tsx";
import { CompareTexts } from "../../execution/compare/compare-texts.tsx";
import { CompareVersions } from "../../execution/compare/compare-versions.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { AppLink, ButtonLink } from "../../ui/link.tsx";
import { PageHeader } from "../../ui/page-header.tsx";

const route = getRouteApi("/in/o/$org/executions/compare");

/** Two executions, and only what differs between them. */
export function ComparePage() {
  const { a, b } = route.useSearch();
  const { slug } = useOrganisation();
  const above = [
    <AppLink key="all" to="/o/$org/executions" params={{ org: slug }}>
      Executions
    </AppLink>,
  ];
  if (a === undefined || b === undefined)
    return (
      <>
        <PageHeader title="Compare two executions" above={above} />
        <EmptyState title="Two executions are needed">
          Select two in the list of executions, and choose Compare.
        </EmptyState>
      </>
    );
  return (
    <>
      <PageHeader
        title="Compare two executions"
        above={above}
        actions={
          <ButtonLink
            to="/o/$org/executions/compare"
            params={{ org: slug }}
            search={{ a: b, b: a }}
            variant="default"
          >
            Swap
          </ButtonLink>
        }
      />
      <Comparison a={a} b={b} />
    </>
  );
}

function Comparison({ a, b }: { readonly a: string; readonly b: string }) {
  const first = useLoaded(q("getExecution", { params: { id: a } }));
  const second = useLoaded(q("getExecution", { params: { id: b } }));
  const isSameVersion = first.service.key === second.service.key && first.version === second.version;
  return (
    <Stack gap="lg" className="compared">
      <Text>
        {isSameVersion
          ? `Both are of ${first.service.name} ${first.version}.`
          : `They are of different versions: ${first.service.name} ${first.version} and ${second.service.name} ${second.version}.`}
      </Text>
      <CompareTexts first={first} second={second} part="input" />
      <CompareTexts first={first} second={second} part="result" />
      <CompareFacts first={first} second={second} />
      <CompareLogs first={first} second={second} />
      {!isSameVersion && <CompareVersions first={first} second={second} />}
    </Stack>
  );
}
