/** A version that is never built. */
export const VERSION = {
  id: "version",
  projectDirectory: "/project",
  interpreter: "/usr/bin/python3",
  readablePaths: [],
  resources: { cpu: 1, memory: 1 },
  variables: {},
  secrets: [],
  startMode: "auto",
  network: null,
  output: null,
} as const;
