import { deepStrictEqual, throws } from "node:assert/strict";
import { parseToolYaml } from "./tool_yaml.ts";

const GOOD = `name: demo
version: 1.0.0
licence: MIT
engine: script
memoryPages: 64
hostFunctions: [fs.read]
tools:
  - name: demo_read
    description: Reads.
    reads: [path]
    parameters:
      type: object
      properties:
        path: { type: string }
        pattern: { type: array, items: { type: string } }
`;

Deno.test("a tool.yaml becomes a manifest, with what it leaves out filled in", () => {
  const { tools, hostFunctions, ...rest } = parseToolYaml(GOOD, "demo");
  deepStrictEqual(rest, {
    name: "demo",
    version: "1.0.0",
    licence: "MIT",
    engine: "script",
    memoryPages: 64,
  });
  deepStrictEqual(hostFunctions, ["fs.read"]);
  deepStrictEqual([tools[0]?.deadlineMs, tools[0]?.idempotent, tools[0]?.colour], [
    30_000,
    true,
    "BLUE",
  ]);
});

/** Each is the good one with one change. */
const BAD: readonly [claim: string, from: string, to: string, why: RegExp][] = [
  ["an unknown key", "licence: MIT", "licence: MIT\nsecret: 1", /secret/],
  ["an unknown key of a tool", "    reads:", "    read: []\n    reads:", /tools\.0.*read/],
  ["a key twice", "engine: script", "engine: script\nengine: wasm", /unique/],
  [
    "a hash that only a build may write",
    "licence: MIT",
    `licence: MIT\nsha256: ${"0".repeat(64)}`,
    /sha256/,
  ],
  ["another name than the folder's", "name: demo\n", "name: other\n", /calls itself "other"/],
  ["a host function that there is none of", "fs.read", "fs.everything", /hostFunctions/],
  [
    "an argument that the tool does not have",
    "reads: [path]",
    "reads: [file]",
    /no parameter "file"/,
  ],
  [
    "a schema keyword that the gate does not take",
    "path: { type: string }",
    "path: { type: string, pattern: a }",
    /"pattern"/,
  ],
  [
    "the same deep inside",
    "items: { type: string }",
    "items: { type: string, format: date }",
    /"format"/,
  ],
  ["more memory than any may have", "memoryPages: 64", "memoryPages: 65536", /memoryPages/],
  ["text that is no YAML", "tools:", "tools: [", /Cannot read the tool.yaml of "demo"/],
  ["a bomb of aliases", "licence: MIT", "licence: &a MIT\nversion2: *a", /Cannot read/],
];

Deno.test("a tool.yaml with anything unknown, doubled or wrong is refused, with the reason", () => {
  for (const [claim, from, to, why] of BAD) {
    throws(
      () => parseToolYaml(GOOD.replace(from, to), "demo"),
      (error: Error & { code?: string }) =>
        error.code === "invalidInput" && why.test(error.message),
      claim,
    );
  }
});

Deno.test("two tools of one plugin cannot have the same name", () => {
  const twice = GOOD + GOOD.slice(GOOD.indexOf("  - name:"));
  throws(() => parseToolYaml(twice, "demo"), /"demo_read" is there twice/);
});
