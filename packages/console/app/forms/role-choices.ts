/** The roles of an organisation in words, the least first. */
export const ROLE_CHOICES = [
  { value: "viewer", label: "Viewer: sees everything but invitations and the audit log" },
  { value: "maintainer", label: "Maintainer: also runs, deploys and changes services and applications" },
  { value: "owner", label: "Owner: also members, invitations, audit log and the organisation itself" },
] as const;
