/** The pages of those who run the platform, in the order of their links. */
export const OPERATOR_PAGES = [
  ["/operator", "Health"],
  ["/operator/activity", "Activity"],
  ["/operator/workers", "Workers"],
  ["/operator/backends", "Backends"],
  ["/operator/storage", "Storage"],
  ["/operator/users", "Users"],
  ["/operator/organizations", "Organisations"],
  ["/operator/settings", "Settings"],
] as const;
