/** The organisation of the user, with a service, and how more is made. */
interface ScheduleScene {
  readonly organisationId: string;
  readonly serviceKey: string;
  readonly createName: () => string;
  readonly post: (path: string, body?: unknown) => Promise<void>;
}

/** How the rows of the bound of schedules are made (bounds.test.ts). */
export function createGrowingSchedules(open: () => Promise<ScheduleScene>) {
  return {
    schedules: {
      parent: "organisation where id = $1",
      prepare: async () => {
        const { organisationId, serviceKey, createName, post } = await open();
        const given = { cron: "@daily", target: { serviceKey } };
        return {
          parentId: organisationId,
          make: () => post("/schedules", { name: createName(), ...given }),
        };
      },
      fill: `insert into schedule (id, organisation_id, name, cron, time_zone, overlap, body, service_key, planned_at, changed_by)
        select gen_random_uuid(), $1, 'many' || i, '@daily', 'UTC', 'skip', '{}', gen_random_uuid(), now(), $3
        from generate_series(1, $2) as i`,
    },
  };
}
