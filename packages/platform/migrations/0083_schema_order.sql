-- Schemas and examples keep the order in which their members were declared: jsonb orders names by length, and with it the fields
-- of forms, documents and clients. What was stored before has that order, and keeps it. Each version is written once, and no
-- execution.
set local lock_timeout = '3s';

alter table version
  alter column input_schema type json using input_schema::json,
  alter column output_schema type json using output_schema::json,
  alter column example_input type json using example_input::json;

alter table listing alter column example_input type json using example_input::json;
