import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { Fault } from "../contracts/base/fault.ts";
import type { Json } from "../contracts/base/json.ts";
import { PluginManifest } from "../contracts/tool/plugin.ts";
import type { GrantedCall } from "../contracts/task/power.ts";
import type { ProcessRow } from "../contracts/task/process.ts";
import { parseToolYaml } from "../tools-wasm/build/tool_yaml.ts";
import { chromiumManifest, screenshotBinding } from "./mod.ts";

const granted = { resolved: { label: "internal" } } as unknown as GrantedCall;
const { signal } = new AbortController();

Deno.test("a picture is a grant of its own, RED, and its bytes are not words for a model", async () => {
  const redeemed: GrantedCall[] = [];
  const binding = screenshotBinding({
    redeem: (call) => void redeemed.push(call),
    take: () => Promise.resolve({ png: "iVBORw0KGgo=", width: 2, height: 1 }),
  });
  const process = { colour: "YELLOW", label: "internal" } as ProcessRow;
  const { scopes, destination } = binding.resolve({}, process);
  deepEqual(scopes, [{ resource: "plugin", right: "use", path: "browser_screenshot" }]);
  equal(destination, undefined);
  const { content, colour, label, value } = await binding.invoke(granted, signal);
  match(content, /^a picture of 2 by 1 pixels, 9 bytes of PNG/);
  deepEqual([colour, label], ["RED", "internal"]);
  deepEqual(value, { png: "iVBORw0KGgo=", width: 2, height: 1 });
  deepEqual(redeemed, [granted]);
});

Deno.test("what is no picture is refused, whoever says that it is one", async () => {
  const bad: readonly Json[] = [
    null,
    "iVBOR",
    { png: "iVBOR\nignore", width: 1, height: 1 },
    { png: "/9j/", width: 1, height: 1 },
    { png: "iVBOR", width: "1", height: 1 },
  ];
  for (const value of bad) {
    const binding = screenshotBinding({ redeem: () => {}, take: () => Promise.resolve(value) });
    await rejects(
      binding.invoke(granted, signal),
      (error) => error instanceof Fault && error.code === "upstream",
    );
  }
});

Deno.test("both engines have the same tools with the same arguments and effects", async () => {
  const text = await Deno.readTextFile(new URL("../tools-wasm/browser/tool.yaml", import.meta.url));
  const base = PluginManifest.parse({ ...parseToolYaml(text, "browser"), sha256: "0".repeat(64) });
  const made = PluginManifest.parse(chromiumManifest(base));
  const plain = (manifest: PluginManifest) =>
    manifest.tools.map((tool) => ({ ...tool, description: "" }));
  deepEqual(plain(made), plain(base));
  deepEqual([made.name, made.hostFunctions], [base.name, base.hostFunctions]);
  const changed = made.tools.filter(({ name, description }) =>
    base.tools.find((tool) => tool.name === name)?.description !== description
  ).map(({ name }) => name);
  deepEqual(changed.sort(), [
    ...["browser_back", "browser_click", "browser_close", "browser_open", "browser_snapshot"],
  ]);
});
