import { Button, Group, Radio, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { SUBSCRIPTIONS_API } from "@platform/contract/platform-api/subscriptions";
import type { MarketplaceEntry } from "@platform/contract/platform-api/marketplace";
import type { Plan } from "@platform/contract/platform-api/plans";
import type { AnswerOf, BodyOf } from "../api/client.ts";
import { useChange, useChoices } from "../api/queries.ts";
import { Can } from "../ui/can.tsx";
import { CopyLine } from "../ui/copy-button.tsx";
import { Failure } from "../ui/failure.tsx";
import { AppLink, ButtonLink } from "../ui/link.tsx";
import { Unless } from "../ui/unless.tsx";
import { describePriceBeside, listLimits, sortByPrice } from "../util/plan-words.ts";
import { CreateApplication } from "./create-application.tsx";
import { ChoiceField } from "./fields.tsx";
import { SchemaBackedForm } from "./schema-backed-form.tsx";

interface SubscribeToServiceProps {
  readonly entry: MarketplaceEntry;
  /** Slug of the organisation that subscribes. */
  readonly org: string;
  /** Plan that was chosen before. */
  readonly planId: string | undefined;
  readonly close: () => void;
}

type Subscription = AnswerOf<"createSubscription">;

/** A subscription in steps: the plan, the application (or a new one), the endpoint URL. Within the own organisation there is no plan. */
export function SubscribeToService({ entry, org, planId, close }: SubscribeToServiceProps) {
  const isOwn = entry.providerSlug === org;
  const [plan, setPlan] = useState<Plan | null>(null);
  const [done, setDone] = useState<Subscription | null>(null);
  if (done !== null) return <Subscribed to={done} org={org} close={close} />;
  if (!isOwn && plan === null)
    return <ChoosePlan plans={entry.plans} first={planId} onChosen={setPlan} close={close} />;
  return (
    <Stack>
      {plan !== null && (
        <Group gap="xs">
          <Text>{[plan.name, describePriceBeside(plan)].filter(Boolean).join(": ")}</Text>
          <Button variant="subtle" size="compact-sm" onClick={() => setPlan(null)}>
            Change plan
          </Button>
        </Group>
      )}
      <ChooseApplication entry={entry} plan={plan} onSubscribed={setDone} close={close} />
    </Stack>
  );
}

interface ChoosePlanProps {
  readonly plans: readonly Plan[];
  readonly first: string | undefined;
  readonly onChosen: (plan: Plan) => void;
  readonly close: () => void;
}

function ChoosePlan({ plans: offered, first, onChosen, close }: ChoosePlanProps) {
  const plans = sortByPrice(offered);
  const [chosen, setChosen] = useState(plans.some(({ id }) => id === first) ? first : plans[0]?.id);
  const plan = plans.find(({ id }) => id === chosen);
  return (
    <Stack>
      <Radio.Group label="Plan" value={chosen ?? null} onChange={setChosen}>
        <Stack gap="xs" mt="xs">
          {plans.map((one) => (
            <Radio
              key={one.id}
              value={one.id}
              label={one.name}
              description={[describePriceBeside(one), ...listLimits(one)].filter(Boolean).join(". ")}
              {...(one.id === chosen ? { "data-autofocus": true } : {})}
            />
          ))}
        </Stack>
      </Radio.Group>
      <Group justify="flex-end">
        <Button variant="default" onClick={close}>
          Cancel
        </Button>
        <Unless reason={plan === undefined ? "Choose a plan before." : null}>
          <Button onClick={() => plan !== undefined && onChosen(plan)}>Next</Button>
        </Unless>
      </Group>
    </Stack>
  );
}

interface ChooseApplicationProps {
  readonly entry: MarketplaceEntry;
  readonly plan: Plan | null;
  readonly onSubscribed: (subscription: Subscription) => void;
  readonly close: () => void;
}

function ChooseApplication({ entry, plan, onSubscribed, close }: ChooseApplicationProps) {
  const { items: applications, error, retry } = useChoices("listApplications");
  const [created, setCreated] = useState<string | null>(null);
  const [isNew, setIsNew] = useState(false);
  const subscribed = new Set(entry.subscriptions.map(({ applicationId }) => applicationId));
  if (error !== null) return <Failure error={error} retry={retry} />;
  if (applications === undefined) return <Text c="dimmed">Loading the applications.</Text>;
  if (isNew || applications.length === 0)
    return (
      <CreateApplication
        submitLabel="Create application"
        onCancel={() => (isNew ? setIsNew(false) : close())}
        onCreated={({ id }) => {
          setCreated(id);
          setIsNew(false);
        }}
      />
    );
  return (
    <SubscribeForm
      entry={entry}
      plan={plan}
      applications={applications}
      first={created ?? (applications.find(({ id }) => !subscribed.has(id)) ?? applications[0])?.id}
      subscribed={subscribed}
      onNew={() => setIsNew(true)}
      onSubscribed={onSubscribed}
      close={close}
    />
  );
}

interface SubscribeFormProps extends ChooseApplicationProps {
  readonly applications: readonly { readonly id: string; readonly name: string }[];
  /** Identifiers of those that have a subscription already. */
  readonly subscribed: ReadonlySet<string>;
  /** The application that is chosen at first. */
  readonly first: string | undefined;
  readonly onNew: () => void;
}

/** In place of a version: the highest one that is live. */
const NEWEST = "newest";

function SubscribeForm(props: SubscribeFormProps) {
  const { entry, plan, applications, subscribed, first, onNew, onSubscribed, close } = props;
  const subscribe = useChange("createSubscription", {
    done: "Subscribed.",
    refresh: ["listSubscriptions", "getMarketplaceEntry"],
  });
  return (
    <SchemaBackedForm<BodyOf<"createSubscription">>
      schema={SUBSCRIPTIONS_API.createSubscription.body}
      initial={{ applicationId: first, version: NEWEST }}
      prepare={({ applicationId, version }) => ({
        applicationId,
        serviceKey: entry.serviceKey,
        ...(plan === null ? {} : { planId: plan.id }),
        ...(version === NEWEST ? {} : { version }),
      })}
      submitLabel="Subscribe"
      submit={(body) => subscribe.run({ body }).then(onSubscribed)}
      onCancel={close}
    >
      <ChoiceField
        name="applicationId"
        label="Application"
        description="Its access keys may call the service."
        options={applications.map(({ id, name }) => ({
          value: id,
          label: subscribed.has(id) ? `${name} (subscribed)` : name,
        }))}
        hasFocus
      />
      <Group>
        <Can op="createApplication">
          <Button variant="subtle" size="compact-sm" onClick={onNew}>
            New application
          </Button>
        </Can>
      </Group>
      <ChoiceField
        name="version"
        label="Version"
        description="Which one the endpoint URL names. All live ones may be called."
        options={listChoices(entry.versions.map(({ version }) => version))}
      />
    </SchemaBackedForm>
  );
}

/** The highest version, the highest of each major number, and each one. */
function listChoices(versions: readonly string[]): readonly { value: string; label: string }[] {
  const majors = [...new Set(versions.map((version) => version.split(".")[0] ?? version))];
  return [
    { value: NEWEST, label: "The newest one" },
    ...majors.map((major) => ({ value: major, label: `The newest ${major}.x.y` })),
    ...versions.map((version) => ({ value: version, label: `Always ${version}` })),
  ];
}

interface SubscribedProps {
  readonly to: Subscription;
  readonly org: string;
  readonly close: () => void;
}

function Subscribed({ to, org, close }: SubscribedProps) {
  const { id: sid, serviceName, endpointUrl, applicationId: id } = to;
  return (
    <Stack>
      <Text>The application may call {serviceName} with access tokens of its keys.</Text>
      <div>
        <Text fw={600}>Endpoint URL</Text>
        {endpointUrl === null ? (
          <Text c="dimmed">None yet: no version is live.</Text>
        ) : (
          <CopyLine text={endpointUrl} what="endpoint URL" />
        )}
      </div>
      <Text fz="sm">
        <AppLink
          to="/o/$org/applications/$id/subscriptions/$sid"
          params={{ org, id, sid }}
          underline="always"
        >
          The page of the subscription
        </AppLink>{" "}
        has programs that call it, and clients.
      </Text>
      <Group justify="flex-end">
        <Button variant="default" onClick={close}>
          Close
        </Button>
        <ButtonLink
          to="/o/$org/applications/$id"
          params={{ org, id }}
          search={{ tab: "keys", new: "key" }}
          variant="default"
        >
          Create a key
        </ButtonLink>
        <ButtonLink to="/o/$org/applications/$id" params={{ org, id }}>
          Open the application
        </ButtonLink>
      </Group>
    </Stack>
  );
}
