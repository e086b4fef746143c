import { Alert, List, Paper, SimpleGrid, Stack, Text, Title } from "@mantine/core";
import type { Listing as ListingShape } from "@platform/contract/platform-api/marketplace";
import type { Plan } from "@platform/contract/platform-api/plans";
import type { Service, VersionDetails } from "@platform/contract/platform-api/services";
import { pages, q, useFetched, useLoaded, useLoadedPages } from "../../api/queries.ts";
import { useOrganisation } from "../../api/scope.tsx";
import { EditListing } from "../../forms/edit-listing.tsx";
import { useRefusal } from "../../ui/can.tsx";
import { FoundDraft, useDraft } from "../../ui/draft.tsx";
import { AppLink } from "../../ui/link.tsx";
import { Markdown } from "../../ui/markdown.tsx";
import { useExampleFault } from "./use-example-fault.ts";

/** What others see of a service before they subscribe, and its editor. */
export function Listing({ service }: { readonly service: Service }) {
  const { slug: org } = useOrganisation();
  const { key, latestVersion, publication } = service;
  const refusal = useRefusal("putListing");
  const listing = useLoaded(q("getListing", { params: { key } }));
  const plans = useLoadedPages(pages("listPlans", { params: { key } }));
  const draft = useDraft(`listing.${key}`, listing.revision);
  const present = { ...listing, ...draft.entered };
  const fault = useExampleFault({ serviceKey: key, version: latestVersion, example: listing.exampleInput });
  const { data: version } = useFetched(q("getVersion", { params: { key, version: latestVersion ?? "" } }), {
    isActive: latestVersion !== null,
  });
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="xl">
      <Stack>
        <Title order={2} fz="lg">
          Edit
        </Title>
        {refusal === null ? (
          <>
            <FoundDraft draft={draft} />
            <EditListing
              key={draft.key}
              serviceKey={key}
              listing={listing}
              readme={version?.readme ?? ""}
              example={version?.exampleInput ?? null}
              replaces={draft.replaces}
              kept={draft.entered}
              keep={draft.keep}
              onSaved={draft.noteSaved}
            />
          </>
        ) : (
          <Text c="dimmed">{refusal}</Text>
        )}
      </Stack>
      <Stack>
        <Title order={2} fz="lg">
          As others see it
        </Title>
        <Lacks
          of={[...listLacks(service, present, plans.items, version), ...(fault === null ? [] : [fault])]}
        />
        {publication !== null && latestVersion !== null && (
          <AppLink to="/o/$org/marketplace/$key" params={{ org, key }}>
            Open its page in the marketplace
          </AppLink>
        )}
        <Preview listing={present} readme={version?.readme ?? ""} />
      </Stack>
    </SimpleGrid>
  );
}

/** What a good offer has, and this one lacks: a sentence each. A field that was emptied is an empty text. */
function listLacks(
  { latestVersion }: Service,
  {
    summary,
    description,
    exampleInput,
  }: Readonly<Record<"summary" | "description" | "exampleInput", unknown>>,
  plans: readonly Plan[],
  version: VersionDetails | undefined,
): readonly string[] {
  const checks: readonly (readonly [boolean, string])[] = [
    [latestVersion === null, "No version is live: nobody can find it."],
    [
      version?.readme === "" && isEmpty(description),
      "There is no description, neither here nor in the project.",
    ],
    [version?.inputSchema === null, "The input has no schema: type hints of run give it a form and clients."],
    [isEmpty(summary), "There is no summary."],
    [
      isEmpty(exampleInput),
      "There is no example input: clients are downloaded with an empty one, and nobody sees what to send.",
    ],
    [plans.length === 0, "There is no plan: publishing in the marketplace makes a free one."],
  ];
  return checks.filter(([lacks]) => lacks).map(([, sentence]) => sentence);
}

const isEmpty = (value: unknown) => value === null || (typeof value === "string" && value.trim() === "");

function Lacks({ of: sentences }: { readonly of: readonly string[] }) {
  if (sentences.length === 0) return null;
  return (
    <Alert color="gray" variant="default" title="What it lacks" p="sm">
      <List aria-label="What it lacks" size="sm">
        {sentences.map((sentence) => (
          <List.Item key={sentence}>{sentence}</List.Item>
        ))}
      </List>
    </Alert>
  );
}

function Preview({ listing, readme }: { readonly listing: ListingShape; readonly readme: string }) {
  const { title, summary, tags, icon } = listing;
  // Of a field that was emptied, it is an empty text.
  const description = listing.description ?? "";
  const shown = description.trim() === "" ? readme : description;
  return (
    <Paper component="article" withBorder p="lg" radius="md" aria-label="Preview">
      <Stack gap="sm">
        {icon !== null && <img src={icon} alt="" width={48} height={48} style={{ objectFit: "contain" }} />}
        <Text fz="xl" fw={650} style={{ overflowWrap: "anywhere" }}>
          {title}
        </Text>
        {summary !== "" && (
          <Text c="dimmed" style={{ overflowWrap: "anywhere" }}>
            {summary}
          </Text>
        )}
        {tags.length > 0 && <Text fz="sm">{tags.join(", ")}</Text>}
        {shown === "" ? <Text c="dimmed">There is no description.</Text> : <Markdown text={shown} />}
      </Stack>
    </Paper>
  );
}
