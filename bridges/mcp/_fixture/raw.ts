/**
 * A server that sends exactly what a test specifies: its first argument is JSON, `[{ "when": METHOD, "say": [...] }]`.
 * For each line that it reads whose method is `when` (each rule once, in order, unless `"always": true`) it writes the
 * `say` lines: strings unchanged, objects as JSON; `"$id"` as a value stands for the request's id (in a string, too),
 * `"$token"` for its progress token, `"$x1000"` for a thousand `x`. A rule without `when` is written at the start.
 * `{ "exit": CODE }` in `say` ends the server, `{ "spin": BYTES }` writes that many `x` without a newline,
 * `{ "repeat": N, "line": … }` writes a line N times, `{ "bytes": BASE64 }` raw bytes.
 * Lines that it reads go to its error stream, each after `< `.
 * @module
 */

type Saying = string | Readonly<Record<string, unknown>>;

interface Rule {
  readonly when?: string;
  readonly always?: boolean;
  readonly say: readonly Saying[];
}

interface Heard {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: { readonly _meta?: { readonly progressToken?: unknown } };
}

const rules: Rule[] = JSON.parse(Deno.args[0] ?? "[]");
const encoder = new TextEncoder();

function write(bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length;) done += Deno.stdout.writeSync(bytes.subarray(done));
}

function filled(value: unknown, heard: Heard): unknown {
  if (value === "$id") return heard.id;
  const many = typeof value === "string" ? /^\$x([0-9]+)$/.exec(value)?.[1] : undefined;
  if (many !== undefined) return "x".repeat(Number(many));
  if (value === "$token") return heard.params?._meta?.progressToken;
  if (Array.isArray(value)) return value.map((item) => filled(item, heard));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, filled(item, heard)]),
  );
}

function say(saying: Saying, heard: Heard): void {
  if (typeof saying === "string") {
    const id = JSON.stringify(heard.id ?? null);
    return write(encoder.encode(`${saying.replaceAll('"$id"', id)}\n`));
  }
  if (typeof saying["exit"] === "number") Deno.exit(saying["exit"]);
  if (typeof saying["spin"] === "number") return write(new Uint8Array(saying["spin"]).fill(120));
  if (typeof saying["bytes"] === "string") {
    return write(Uint8Array.from(atob(saying["bytes"]), (unit) => unit.charCodeAt(0)));
  }
  if (typeof saying["repeat"] === "number") {
    for (let i = 0; i < saying["repeat"]; i++) say(saying["line"] as Saying, heard);
    return;
  }
  write(encoder.encode(`${JSON.stringify(filled(saying, heard))}\n`));
}

function speak(when: string | undefined, heard: Heard): void {
  const rule = rules.find((rule) => rule.when === when);
  if (rule === undefined) return;
  if (rule.always !== true) rules.splice(rules.indexOf(rule), 1);
  for (const saying of rule.say) say(saying, heard);
}

speak(undefined, {});
let rest = "";
for await (const text of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
  const lines = `${rest}${text}`.split("\n");
  rest = lines.pop() ?? "";
  for (const line of lines) {
    Deno.stderr.writeSync(encoder.encode(`< ${line}\n`));
    const heard: Heard = JSON.parse(line);
    speak(heard.method ?? "answer", heard);
  }
}
