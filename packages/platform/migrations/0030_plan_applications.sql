-- How many applications of one organisation can have a plan.

-- In one month; null: any number.
alter table plan add column max_applications integer constraint plan_max_applications_positive check (max_applications > 0);
