import { Badge, Button, Group, Text, Title } from "@mantine/core";
import type { MarketplaceCard } from "@platform/contract/platform-api/marketplace";
import type { LoadedPages } from "../../api/queries.ts";
import { useOrganisation } from "../../api/scope.tsx";
import { AppLink } from "../../ui/link.tsx";
import { describePriceFrom } from "../../util/plan-words.ts";
import { describeFigures } from "./figures.ts";
import { ORDERS } from "./orders.ts";
import type { OfferOrder } from "./orders.ts";
import "./marketplace.css";

interface CardsProps {
  readonly services: LoadedPages<MarketplaceCard>;
  readonly order: OfferOrder;
}

/** Services as cards: what they are called, who provides them, what they cost. */
export function Cards({ services: { items, hasMore, isLoadingMore, loadMore }, order }: CardsProps) {
  return (
    <section aria-label="Services">
      <ul className="market-cards">
        {items.map((service) => (
          <Card key={service.serviceKey} of={service} />
        ))}
      </ul>
      <Group justify="space-between" mt="sm">
        <Text role="status" fz="sm" c="dimmed">
          {items.length} {hasMore ? "services so far" : items.length === 1 ? "service" : "services"},{" "}
          {ORDERS[order].words}
        </Text>
        {hasMore && (
          <Button size="xs" variant="default" loading={isLoadingMore} onClick={loadMore}>
            Load more
          </Button>
        )}
      </Group>
    </section>
  );
}

function Card({ of: one }: { readonly of: MarketplaceCard }) {
  const { slug: org } = useOrganisation();
  return (
    <li className="market-card">
      <Group gap="sm" wrap="nowrap" align="flex-start">
        {one.icon !== null && <img src={one.icon} alt="" width={40} height={40} />}
        <div style={{ minWidth: 0 }}>
          <Title order={2} fz="md" lh={1.3}>
            <AppLink to="/o/$org/marketplace/$key" params={{ org, key: one.serviceKey }}>
              {one.title}
            </AppLink>
          </Title>
          <Text fz="sm" c="dimmed">
            {one.serviceName} {one.latestVersion} by {one.providerName}
          </Text>
        </div>
      </Group>
      {one.summary !== "" && <Text fz="sm">{one.summary}</Text>}
      {one.figures !== null && (
        <Text fz="sm" c="dimmed">
          {describeFigures(one.figures)}
        </Text>
      )}
      <Group gap="4px 12px" mt="auto">
        {one.publication === "internal" && (
          <Badge title="Only applications of this organisation can subscribe.">Internal</Badge>
        )}
        {one.priceFrom !== null && (
          <Text fz="sm" fw={600}>
            {describePriceFrom(one.priceFrom, one.hasOtherPrices)}
          </Text>
        )}
        {one.tags.map((tag) => (
          <AppLink key={tag} to="/o/$org/marketplace" params={{ org }} search={{ tag }} fz="sm">
            {tag}
          </AppLink>
        ))}
      </Group>
    </li>
  );
}
