/** Who can subscribe to a service, in words. */
export const PUBLICATION_WORDS = {
  none: "Nobody",
  internal: "This organisation",
  marketplace: "Everybody",
} as const;
