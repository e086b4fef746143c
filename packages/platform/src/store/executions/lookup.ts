/**
 * SQL that is true for the row with this id if it also meets `condition`: reads one entry of the primary key's index, in
 * the partition of the id. `alias`: of the table; `id`: a column of a few other rows, or a parameter with its type.
 *
 * Written plainly, the plan depends on how many rows the planner believes in, and it stays (execution-store.ts). While the
 * tables are nearly empty, any index that has one of the columns is as cheap: the one of owners and states, or, for `=`
 * alone, the whole primary key in its order, to look for each entry among the few rows. Each execution then takes longer
 * than the one before. What is in "any" has no order to be read in, and what is in "is true" no index.
 */
export function lookUp(alias: string, id: string, condition?: string): string {
  const isRow = `${alias}.id = any (array[${id}])`;
  return condition === undefined ? isRow : `${isRow} and (${condition}) is true`;
}
