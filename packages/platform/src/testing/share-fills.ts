/* SQL: so many ($2) data pools that are shared with the organisation $1; the user $3 shares one more. */

/** Any other user. */
const ANOTHER_USER = "(select id from platform_user where id <> $3::uuid limit 1)";

/** Half of them pools of the user's organisation that others share, half of them pools of other organisations that the user shares. */
export const FILL_SHARES_OF_ONE = `with owners as (
        insert into organisation (id, name, slug) select gen_random_uuid(), 'many', gen_random_uuid()::text
        from generate_series(1, $2) as i where i % 2 = 0 returning id
      ), made as (
        insert into data_pool (id, organisation_id, name, name_key, created_by)
        select gen_random_uuid(), id, 'many', 'many', $3::uuid from owners
        union all select gen_random_uuid(), m.organisation_id, 'many', 'many' || i, $3::uuid
        from member m, generate_series(1, $2) as i where m.user_id = $3::uuid and i % 2 = 1
        returning id, organisation_id
      ) insert into data_pool_share (pool_id, organisation_id, role, created_by)
      select id, $1, 'viewer', case when organisation_id in (select id from owners) then $3::uuid else ${ANOTHER_USER} end from made`;

/** Each of another organisation, and shared by a user who shares no others. */
export const FILL_SHARES_OF_MANY = `with owners as (
        insert into organisation (id, name, slug) select gen_random_uuid(), 'many', gen_random_uuid()::text from generate_series(1, $2)
        returning id
      ), made as (
        insert into data_pool (id, organisation_id, name, name_key, created_by)
        select gen_random_uuid(), id, 'many', 'many', $3::uuid from owners returning id
      ) insert into data_pool_share (pool_id, organisation_id, role, created_by) select id, $1, 'viewer', ${ANOTHER_USER} from made`;
