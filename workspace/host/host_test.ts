import { deepEqual, equal, rejects } from "node:assert/strict";
import { Fault } from "../../contracts/base/fault.ts";
import type { JsonObject } from "../../contracts/base/json.ts";
import { HOST_LIST, HOST_READ } from "../../contracts/wire/wire_toolhost.ts";
import { makeRig, type Rig } from "../_fixture/rig.ts";

const read = async (rig: Rig, args: JsonObject = {}): Promise<JsonObject> =>
  (await rig.host(HOST_READ, { path: "desk/f", ...args })).value as JsonObject;

Deno.test("a plugin reads a file in pieces that end with whole characters", async () => {
  using rig = makeRig();
  const text = "aé😀b".repeat(3);
  rig.put("f", text);
  let out = "", from = 0;
  for (;;) {
    const piece = await read(rig, { from, bytes: 5 });
    out += piece["text"];
    if (piece["end"] === true) break;
    equal(piece["lossy"], undefined);
    equal(piece["bytes"], new TextEncoder().encode(text).length);
    from = Number(piece["next"]);
  }
  equal(out, text);
});

Deno.test("bytes that are no text come as base64, or as text that says it is lossy", async () => {
  using rig = makeRig();
  rig.put("f", new Uint8Array([0xff, 0x41, 0x00]));
  equal((await read(rig, { encoding: "base64" }))["base64"], "/0EA");
  const piece = await read(rig);
  equal(piece["text"], "\ufffdA\0");
  equal(piece["lossy"], true);
});

Deno.test("past the end there is nothing, and an empty file is at its end", async () => {
  using rig = makeRig();
  rig.put("f", "");
  deepEqual(await read(rig), { text: "", bytes: 0, next: 0, end: true });
  deepEqual(await read(rig, { from: 9 }), { text: "", bytes: 0, next: 9, end: true });
});

Deno.test("a plugin sees the agent's own staged version", async () => {
  using rig = makeRig();
  rig.put("f", "old");
  await rig.call("file_write", { path: "desk/f", content: "new" });
  equal((await read(rig))["text"], "new");
});

Deno.test("what is asked for wrongly is refused, and so is the never-list", async () => {
  using rig = makeRig();
  rig.put("f", "x");
  rig.put("keys.env", "K=1");
  const wrong = (error: unknown): boolean =>
    error instanceof Fault && error.code === "invalidArguments";
  await rejects(read(rig, { from: -1 }), wrong);
  await rejects(read(rig, { from: 1.5 }), wrong);
  await rejects(read(rig, { bytes: 1e9 }), wrong);
  await rejects(read(rig, { encoding: "utf-16" }), wrong);
  await rejects(rig.host(HOST_READ, { path: "desk/keys.env" }), (error) => error instanceof Fault);
});

Deno.test("a plugin lists names with sizes, without what is never shown", async () => {
  using rig = makeRig();
  rig.put("b/c", "123");
  rig.put("a", "1");
  rig.put("keys.env", "K=1");
  const { value } = await rig.host(HOST_LIST, { path: "desk", depth: 2 });
  deepEqual(value, {
    entries: [
      { path: "desk/a", kind: "file", bytes: 1 },
      { path: "desk/b", kind: "folder", bytes: 0 },
      { path: "desk/b/c", kind: "file", bytes: 3 },
    ],
    cut: false,
  });
});
