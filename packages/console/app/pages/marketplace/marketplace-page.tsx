import { Button, Checkbox, Group, Pill, TextInput } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { useDeferredValue, useState } from "react";
import { pages, useLoadedPages } from "../../api/queries.ts";
import { CopyAs } from "../../ui/copy-as.tsx";
import { useSetSearch } from "../../ui/dialog.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { PageHeader } from "../../ui/page-header.tsx";
import { Cards } from "./cards.tsx";

const route = getRouteApi("/in/o/$org/marketplace");

/** What can be subscribed to: services of other organisations, and what this one has published. */
export function MarketplacePage() {
  const query = useDeferredValue(route.useSearch());
  const services = useLoadedPages(pages("listMarketplace", { query }));
  const setSearch = useSetSearch();
  const [resets, setResets] = useState(0);
  const showAll = () => {
    setSearch({ q: undefined, tag: undefined, price: undefined });
    setResets(resets + 1);
  };
  const isFiltered = Object.keys(query).length > 0;
  return (
    <>
      <PageHeader
        title="Marketplace"
        description="Services that applications of this organisation can subscribe to."
        actions={<CopyAs op="listMarketplace" request={{ query }} command="platform marketplace search" />}
      />
      {/* What is typed leads the URL, so that only another field can show another text. */}
      <Filters key={resets} isEmpty={resets > 0} />
      {services.items.length === 0 ? (
        isFiltered ? (
          <NothingFound showAll={showAll} />
        ) : (
          <NothingOffered />
        )
      ) : (
        <Cards services={services} isSearched={query.q !== undefined} />
      )}
    </>
  );
}

/** What the filters are, each with what takes it out. */
function Filters({ isEmpty }: { readonly isEmpty: boolean }) {
  const { q: words, tag, price } = route.useSearch();
  const setSearch = useSetSearch();
  return (
    <Group mb="md" gap="md">
      <TextInput
        aria-label="Search the marketplace"
        placeholder="Name, words or tag"
        type="search"
        maxLength={200}
        miw={260}
        defaultValue={isEmpty ? "" : (words ?? "")}
        onChange={({ currentTarget: { value } }) => setSearch({ q: value.trim() || undefined })}
        data-filter
      />
      <Checkbox
        label="With a free plan"
        defaultChecked={!isEmpty && price === "free"}
        onChange={({ currentTarget: { checked } }) => setSearch({ price: checked ? "free" : undefined })}
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
    </Group>
  );
}

function NothingOffered() {
  return (
    <EmptyState title="Nothing is offered yet">
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
