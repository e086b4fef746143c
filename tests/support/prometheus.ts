/** A sample of a scrape. */
export interface Series {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/u;
const LABEL = /([a-zA-Z_]\w*)(=~|!~|!=|=)"((?:[^"\\]|\\.)*)"/gu;

/** Reads the text format of Prometheus. @throws Error for a line that it would refuse, and for a series that is there twice */
export function readExposition(text: string): readonly Series[] {
  const types = new Map<string, string>();
  const seen = new Set<string>();
  const series: Series[] = [];
  for (const line of text.split("\n").slice(0, -1)) {
    const type = /^# TYPE (\S+) (counter|gauge|histogram)$/u.exec(line);
    if (type !== null) {
      const [, name = "", kind = ""] = type;
      if (types.has(name)) throw new Error(`${name} stands in two places`);
      types.set(name, kind);
    }
    if (line.startsWith("# ")) continue;
    const sample = SAMPLE.exec(line);
    if (sample === null) throw new Error(`not a sample: ${line}`);
    const [, name = "", labels = "", value = ""] = sample;
    const key = `${name}{${labels}}`;
    if (seen.has(key)) throw new Error(`twice: ${key}`);
    seen.add(key);
    if (!types.has(name) && types.get(name.replace(/_(?:bucket|sum|count)$/u, "")) !== "histogram")
      throw new Error(`no type: ${name}`);
    if (value.trim() === "" || Number.isNaN(Number(value))) throw new Error(`no number: ${line}`);
    series.push({ name, labels: readLabels(labels), value: Number(value) });
  }
  if (series.length === 0 || !text.endsWith("\n")) throw new Error("the scrape is not whole");
  return series;
}

/** The metrics that a query names, the labels that it filters by, and those that it groups by or shows. */
interface Expression {
  readonly text: string;
  readonly selectors: readonly {
    readonly name: string;
    readonly matchers: Readonly<Record<string, string>>;
  }[];
  readonly labels: readonly string[];
}

/** The queries of a dashboard (JSON) or of alert rules (YAML). */
export function readExpressions(file: string): readonly Expression[] {
  const isDashboard = file.startsWith("{");
  const found = isDashboard ? findQueries(file) : findRules(file);
  return found.map(([text, shown]) => {
    const grouped = [...text.matchAll(/\bby \(([^)]*)\)/gu)].flatMap(([, names = ""]) => names.split(/, ?/u));
    const named = [...shown.matchAll(/\{\{ ?(?:\$labels\.)?(\w+) ?\}\}/gu)].map(([, name = ""]) => name);
    const selectors = [...text.matchAll(/\b((?:platform|process)_\w+|up)\b(?:\{([^}]*)\})?/gu)].map(
      ([, name = "", matchers = ""]) => ({ name, matchers: readLabels(matchers) }),
    );
    if (selectors.length === 0) throw new Error(`no metric in: ${text}`);
    return { text, selectors, labels: [...grouped, ...named] };
  });
}

type Found = readonly (readonly [query: string, shown: string])[];

/** Queries of panels with their legends, and those of variables. */
function findQueries(file: string): Found {
  const text = '("(?:[^"\\\\]|\\\\.)*")';
  const panels = file.matchAll(new RegExp(`"expr": ${text},\\s*"legendFormat": ${text}`, "gu"));
  const variables = file.matchAll(/"definition": "label_values\((.+), (\w+)\)"/gu);
  return [
    ...[...panels].map(([, query = "", shown = ""]) => [parseText(query), parseText(shown)] as const),
    ...[...variables].map(([, query = "", label = ""]) => [parseText(`"${query}"`), `{{${label}}}`] as const),
  ];
}

function parseText(json: string): string {
  return String(JSON.parse(json));
}

/** The rules with what stands below them. */
function findRules(file: string): Found {
  return file
    .split("- alert: ")
    .map((rule) => {
      const [, query = "", shown = ""] = /expr: (.+)\n([\s\S]*)/u.exec(rule) ?? [];
      return [query, shown] as const;
    })
    .slice(1);
}

function readLabels(text: string): Readonly<Record<string, string>> {
  return Object.fromEntries([...text.matchAll(LABEL)].map(([, name = "", , value = ""]) => [name, value]));
}
