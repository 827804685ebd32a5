import assert from "node:assert/strict";
import { Fault } from "../contracts/base/mod.ts";
import { parseConfigText } from "./text.ts";
import { processorTime } from "../tests/fake/processor_time.ts";

const refused = (text: string, pattern: RegExp): void => {
  assert.throws(
    () => parseConfigText("remit.yaml", text),
    (error: unknown) =>
      error instanceof Fault && error.code === "invalidInput" && pattern.test(error.message),
  );
};

Deno.test("a rule knows the line it was written on", () => {
  const file = parseConfigText(
    "remit.yaml",
    "version: 1\nrules:\n  - tool: a\n    mode: auto\n  # more\n  - tool: b\n    mode: forbidden\n",
  );
  assert.deepEqual(file.rules.map((rule) => rule.at), ["remit.yaml:3", "remit.yaml:6"]);
});

Deno.test("an unknown key is refused where it stands", () => {
  refused("version: 1\nmodell: x\n", /^remit\.yaml:2:1: .*unknown key "modell"/);
  refused(
    "version: 1\nrules:\n  - tool: a\n    mode: auto\n    whn: x\n",
    /^remit\.yaml:5:5: .*unknown key "whn" in "rules\.0"/,
  );
});

Deno.test("a wrong value is refused where it stands", () => {
  refused("version: 1\nstrict: maybe\n", /^remit\.yaml:2:1: .*"strict"/);
  refused("version: 2\n", /^remit\.yaml:1:1: .*the line "version: 1"/);
  refused("model: x\n", /^remit\.yaml:1:1: .*the line "version: 1"/);
});

Deno.test("what is no YAML, a key given twice, and a bomb of aliases are refused", () => {
  refused("version: [1\n", /^remit\.yaml:\d+:\d+: /);
  refused("version: 1\nversion: 1\n", /^remit\.yaml:2:1: /);
  refused("a: &a [x]\nversion: *a\n", /^remit\.yaml:1:7: .*anchors are not allowed/);
  refused("version: 1\nmodel: *a\n", /^remit\.yaml:2:8: .*aliases are not allowed/);
});

Deno.test("a file or a section that holds nothing is none; a value that is missing is told", () => {
  for (const text of ["", "# later\n", "---\n", "version: 1\r\nmodels:\r\nnever:\r\nlimits:\r\n"]) {
    assert.deepEqual(parseConfigText("remit.yaml", text).config, { version: 1 });
  }
  const nested = parseConfigText(
    "remit.yaml",
    "version: 1\nmodels:\n  quick:\n    ref: a:b\nserve:\n",
  );
  assert.deepEqual(nested.config.models, { quick: { ref: "a:b" } });
  refused("version: 1\nmodel:\n", /^remit\.yaml:2:1: .*"model" is wrong: it is empty/);
  refused("version: 1\nlimits:\n  outputTokens:\n", /^remit\.yaml:3:3: .*it is empty/);
  refused("version: 1\nrules:\n  - tool:\n    mode: auto\n", /^remit\.yaml:3:5: .*it is empty/);
});

Deno.test("a pattern without quotes is told with its line and the quotes that it needs", () => {
  const never = (value: string): string => `version: 1\nnever:\n  - notes\n  - ${value}\n`;
  for (
    const value of [
      "*.env",
      "**/*.pem",
      "!keep.txt",
      "@x",
      "`x`",
      "%x",
      "{a,b}/*",
      "[a-z]*.key",
      "&x",
    ]
  ) {
    assert.throws(() => parseConfigText("remit.yaml", never(value)), (error) => {
      assert.ok(error instanceof Fault && error.code === "invalidInput");
      assert.match(error.message, /^remit\.yaml:4:\d+: /);
      assert.ok(error.message.endsWith(`needs quotes: '${value}'`), error.message);
      return true;
    });
    assert.deepEqual(parseConfigText("remit.yaml", never(`'${value}'`)).config.never?.[1], value);
  }
  refused("version: 1\nmodel: !x\n", /^remit\.yaml:2:8: .*needs quotes: '!x'$/);
  refused("version: 1\nmodel: ollama: qwen\n", /needs quotes: 'ollama: qwen'$/);
  refused("version: 1\n---\nversion: 1\n", /^remit\.yaml:2:1: .*more than one document/);
});

Deno.test("mallory's keys that are none, that stand twice by another spelling, and a hundred thousand of them end at once", () => {
  refused("version: 1\n? - a\u202eb\n: 1\n", /^remit\.yaml:2:3: .*a key is no name/);
  refused("version: 1\npeers:\n  ? [a]\n  : 1\n", /^remit\.yaml:3:5: .*a key is no name/);
  refused("version: 1\n~: 1\n", /a key is no name/);
  refused('version: 1\n1: a\n"1": b\n', /^remit\.yaml:3:1: .*a key stands twice/);
  const began = processorTime();
  refused(Array.from({ length: 100_000 }, (_, n) => `k${n}: 1`).join("\n"), /"version"/);
  // Compared each with each, they take minutes.
  assert.ok(processorTime() - began < 20_000);
  for (let depth = 50; depth < 2_000; depth += 200) {
    refused(`version: 1\nagents: ${"[".repeat(depth)}${"]".repeat(depth)}`, /remit\.yaml:\d+/);
    refused(`version: 1\nrules: [${"{a: ".repeat(depth)}1${"}".repeat(depth)}]`, /remit\.yaml/);
  }
});

Deno.test("mallory's file name and keys reach the terminal only as safe text", () => {
  assert.throws(() => parseConfigText("a\x1b[2J.yaml", 'version: 1\n"\\e[31m": 1\n'), (error) =>
    // deno-lint-ignore no-control-regex -- it looks for them
    error instanceof Fault && !/[\x1b\x07]/.test(error.message));
});

Deno.test("of a value that may have several shapes, it is said what is wrong with the one that was meant", () => {
  refused(
    "version: 1\nmodels:\n  a: { ref: x, escalate: { to: y, afterr: 3 } }\n",
    /3:\d+: .*"models\.a\.escalate\.after" is wrong: .*expected number/,
  );
  refused(
    "version: 1\nmodels: { a: { ref: x, fast: true } }\n",
    /unknown key "fast" in "models\.a"/,
  );
  refused(
    "version: 1\nmodels: { a: { ref: x, accelerated: gpu } }\n",
    /"models\.a\.accelerated" is wrong: .*boolean.*; or: .*"cpu"; or: .*"cuda"\|"vulkan"/,
  );
  refused("version: 1\nmodels: { a: 3 }\n", /"models\.a" is wrong: .*string.*; or: .*object/);
  refused("version: 1\nredact:\n  - email\n", /"redact\.0" is wrong: .*expected object/);
  refused(
    "version: 1\nredact:\n  - kind: emial\n",
    /"redact\.0\.kind" is wrong: .*one of "email"/,
  );
});

Deno.test("an agent is as long as what is said of it, and is called as its key", () => {
  const { config } = parseConfigText(
    "remit.yaml",
    "version: 1\nagents:\n  scout:\n    labels: { tier: worker }\n    limits: { money: 0.1 }\n  smith: {}\n",
  );
  const empty = { labels: {}, persona: "", limits: {}, env: {} };
  assert.deepEqual(config.agents, {
    scout: { ...empty, name: "scout", labels: { tier: "worker" }, limits: { money: 0.1 } },
    smith: { ...empty, name: "smith" },
  });
  refused(
    "version: 1\nagents:\n  scout: { name: smith }\n",
    /3:\d+: .*"agents\.scout\.name" is wrong: .*"scout"/,
  );
  refused(
    "version: 1\nagents:\n  scout: { lables: {} }\n",
    /unknown key "lables" in "agents\.scout"/,
  );
  refused("version: 1\nagents:\n  Scout: {}\n", /remit\.yaml:3:\d+: .*"agents\.Scout" is wrong/);
});
