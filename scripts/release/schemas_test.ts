import assert from "node:assert/strict";
import { Ajv } from "ajv";
import { parse } from "yaml";
import { parseConfigText } from "../../config/text.ts";
import { ROOT } from "../process.ts";
import { schemaFiles } from "./schemas.ts";

const [remit, tool] = schemaFiles();
// Patterns of names are written for Unicode, and formats are none of ours.
const ajv = new Ajv({ strict: false, validateFormats: false });
const validRemit = ajv.compile(JSON.parse(remit?.text ?? ""));
const validTool = ajv.compile(JSON.parse(tool?.text ?? ""));

Deno.test("schema/ is what the program reads its files with: run deno task schemas", async () => {
  for (const { path, text } of schemaFiles()) {
    assert.equal(await Deno.readTextFile(`${ROOT}/${path}`), text, path);
  }
});

Deno.test("the schema takes every example of remit.yaml and every tool.yaml of ours", async () => {
  const page = await Deno.readTextFile(`${ROOT}/docs/models.md`);
  const examples = [...page.matchAll(/^```yaml\n(version: 1\n[^]*?)^```/gm)].map((
    [, text = ""],
  ) => text);
  assert(examples.length > 0);
  for (const name of ["desk", "web", "wiki"]) {
    examples.push(
      await Deno.readTextFile(`${ROOT}/examples/${name}/desk/remit.yaml`).catch(() =>
        "version: 1\n"
      ),
    );
  }
  for (const text of examples) assert(validRemit(parse(text)), JSON.stringify(validRemit.errors));
  for (const name of ["exec", "json", "text", "coreutils", "browser", "web_read", "patch"]) {
    const text = await Deno.readTextFile(`${ROOT}/tools-wasm/${name}/tool.yaml`);
    assert(validTool(parse(text)), `${name}: ${JSON.stringify(validTool.errors)}`);
  }
});

Deno.test("what the program refuses, the schema refuses", () => {
  const wrong = [
    "version: 2\n",
    "version: 1\nmodle: ollama:a\n",
    "version: 1\nlimits: { money: much }\n",
    "version: 1\nmounts: { Desk: { dir: . } }\n",
    "version: 1\nrules:\n  - tool: file_read\n    mode: sometimes\n",
    "version: 1\nmodels: { a: { contextTokens: 1024 } }\n",
  ];
  for (const text of wrong) {
    assert.throws(() => parseConfigText("remit.yaml", text), text);
    assert.equal(validRemit(parse(text)), false, text);
  }
  assert.equal(validTool({ name: "Bad", tools: [] }), false);
});
