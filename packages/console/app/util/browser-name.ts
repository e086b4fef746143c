const BROWSERS = [
  [/\bEdg\//u, "Edge"],
  [/\bOPR\//u, "Opera"],
  [/\bFirefox\//u, "Firefox"],
  [/Chrom(?:e|ium)\//u, "Chrome"],
  [/\bSafari\//u, "Safari"],
  [/^curl\//u, "curl"],
] as const;

const SYSTEMS = [
  [/\bAndroid\b/u, "Android"],
  [/\b(?:iPhone|iPad)\b/u, "iOS"],
  [/\bWindows\b/u, "Windows"],
  [/\bMac OS X\b/u, "macOS"],
  [/\bCrOS\b/u, "ChromeOS"],
  [/\bLinux\b/u, "Linux"],
] as const;

/** "Firefox on Linux" of a User-Agent; what is not known is given as it is, shortened. */
export function nameBrowser(agent: string): string {
  const [, browser] = BROWSERS.find(([pattern]) => pattern.test(agent)) ?? [];
  const [, system] = SYSTEMS.find(([pattern]) => pattern.test(agent)) ?? [];
  if (browser === undefined) return agent === "" ? "Unknown" : agent.slice(0, 60);
  return system === undefined ? browser : `${browser} on ${system}`;
}
