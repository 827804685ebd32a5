import assert from "node:assert/strict";
import type { PortHandler } from "../contracts/base/port.ts";
import { portOverChild } from "./_fixture/child_port.ts";
import { start, stop } from "./_fixture/spawn.ts";

const silent: PortHandler = { ask: () => null, tell: () => {} };

Deno.test("a program in a child finds no shared storage, channel, thread, GPU, prompt or node global", async () => {
  const child = start("echo_child.ts");
  const port = portOverChild(child, { handler: silent });
  const names = [
    "Buffer",
    "process",
    "localStorage",
    "sessionStorage",
    "caches",
    "BroadcastChannel",
    "Worker",
    "navigator.gpu",
    "prompt",
    "confirm",
    "alert",
  ];
  const found = await port.ask("eval", `[${names.map((name) => `typeof ${name}`).join()}]`);
  assert.deepEqual(found, names.map(() => "undefined"));
  await stop(child);
});

Deno.test("what libraries probe for is there, empty, and what a program needs still works", async () => {
  const child = start("echo_child.ts");
  const port = portOverChild(child, { handler: silent });
  const probe = `[
    ["Request", "Response", "Headers", "Blob", "WebSocket"].every((n) => typeof globalThis[n] === "function"),
    {} instanceof Request,
    new URL("a", "http://b/").href,
    new TextDecoder().decode(new TextEncoder().encode("é")),
    typeof setTimeout, typeof crypto.subtle, typeof WebAssembly.compile, typeof structuredClone,
  ]`;
  assert.deepEqual(await port.ask("eval", probe), [
    true,
    false,
    "http://b/a",
    "é",
    "function",
    "object",
    "function",
    "function",
  ]);
  await stop(child);
});
