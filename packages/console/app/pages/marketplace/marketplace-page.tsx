import { Button, Checkbox, Group, Pill, Select } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { useDeferredValue } from "react";
import { MARKETPLACE_SORTS } from "@platform/contract/platform-api/marketplace-sorts";
import { SEARCH_LIMITS } from "@platform/contract/search-limits";
import { pages, useLoadedPages } from "../../api/queries.ts";
import { CopyAs } from "../../ui/copy-as.tsx";
import { useSetSearch } from "../../ui/dialog.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { PageHeader } from "../../ui/page-header.tsx";
import { SearchField } from "../../ui/search-field.tsx";
import { toCommandLine } from "../../util/command-line.ts";
import { useLeading } from "../../util/use-leading.ts";
import { Cards } from "./cards.tsx";
import { ORDERS } from "./orders.ts";

const route = getRouteApi("/in/o/$org/marketplace");

/** The command that finds the same, for a POSIX shell. */
function toCommand({ q: words, tag, price, sort }: ReturnType<typeof route.useSearch>): string {
  const free = price === "free" ? true : undefined;
  return toCommandLine("platform marketplace search", { tag, free, sort }, words);
}

/** What can be subscribed to: services of other organisations, and what this one has published. */
export function MarketplacePage() {
  const query = useDeferredValue(route.useSearch());
  const services = useLoadedPages(pages("listMarketplace", { query }));
  const setSearch = useSetSearch();
  const { q: words, tag, price, sort } = query;
  const isFiltered = [words, tag, price].some((one) => one !== undefined);
  return (
    <>
      <PageHeader
        title="Marketplace"
        description="Services that applications of this organisation can subscribe to."
        actions={<CopyAs op="listMarketplace" request={{ query }} command={toCommand(query)} />}
      />
      <Filters />
      {services.items.length === 0 ? (
        isFiltered ? (
          <NothingFound
            showAll={() => setSearch({ q: undefined, tag: undefined, price: undefined }, "push")}
          />
        ) : (
          <NothingOffered />
        )
      ) : (
        <Cards services={services} order={sort ?? (words === undefined ? "newest" : "match")} />
      )}
    </>
  );
}

/** What the filters are, each with what takes it out. */
function Filters() {
  const { q: words, tag, price } = route.useSearch();
  const setSearch = useSetSearch();
  const [isFree, enterFree] = useLeading(price === "free");
  return (
    <Group mb="md" gap="md">
      <SearchField
        label="Search the marketplace"
        placeholder="Name, words or tag"
        maxLength={SEARCH_LIMITS.marketplace}
        miw={260}
        words={words}
        onSearch={(q) => setSearch({ q })}
      />
      <Checkbox
        label="With a free plan"
        checked={isFree}
        onChange={({ currentTarget: { checked } }) => {
          enterFree(checked);
          setSearch({ price: checked ? "free" : undefined });
        }}
      />
      {tag !== undefined && (
        <Pill
          size="md"
          withRemoveButton
          onRemove={() => setSearch({ tag: undefined })}
          removeButtonProps={{ "aria-label": `Remove the tag ${tag}`, "aria-hidden": false, tabIndex: 0 }}
        >
          {tag}
        </Pill>
      )}
      <Order />
    </Group>
  );
}

/** In which order services are shown; the URL has only an order that was chosen. */
function Order() {
  const { q: words, sort } = route.useSearch();
  const setSearch = useSetSearch();
  const [chosen, choose] = useLeading(sort);
  const byItself = words === undefined ? "newest" : "match";
  const offered = Object.entries(ORDERS).filter(([order]) => order !== "match" || words !== undefined);
  return (
    <Select
      aria-label="Order"
      ml="auto"
      w={190}
      data={offered.map(([value, { label }]) => ({ value, label }))}
      value={chosen ?? byItself}
      allowDeselect={false}
      onChange={(order) => {
        const next = MARKETPLACE_SORTS.find((one) => one === order && one !== byItself);
        choose(next);
        setSearch({ sort: next });
      }}
    />
  );
}

function NothingOffered() {
  return (
    <EmptyState title="Nothing is offered yet" command="platform publish SERVICE">
      No organisation has put a service into the marketplace, and this one has published none internally.
      Publishing is on the page of a service.
    </EmptyState>
  );
}

function NothingFound({ showAll }: { readonly showAll: () => void }) {
  return (
    <EmptyState
      title="No service matches"
      action={
        <Button variant="default" onClick={showAll}>
          Show all
        </Button>
      }
    >
      Each word has to be in the name, title, tags, summary or description of a service, or begin one there.
    </EmptyState>
  );
}
