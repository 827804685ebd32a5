import assert from "node:assert/strict";
import { Fault } from "../../contracts/base/mod.ts";
import { mismatches, parseToolCases, ToolCase } from "./cases.ts";
import { makeToolWorld } from "./world.ts";

const none = { logs: [], writes: {} };
const expecting = (expect: object) => ToolCase.parse({ tool: "t", expect }).expect;

Deno.test("a value is compared as JSON, whatever the order of its keys", () => {
  const end = { value: { a: 1, b: [2] }, ...none };
  assert.deepEqual(mismatches(expecting({ value: { b: [2], a: 1 } }), end), []);
  assert.equal(mismatches(expecting({ value: { a: 1, b: 2 } }), end).length, 1);
  assert.deepEqual(mismatches(expecting({}), end), []);
});

Deno.test("a fault that nobody expected is a mismatch, and so is a success where one was", () => {
  const fault = { fault: { code: "notFound", message: "Cannot read x" }, ...none };
  assert.equal(mismatches(expecting({}), fault).length, 1);
  assert.deepEqual(mismatches(expecting({ error: "notFound", message: "read x" }), fault), []);
  assert.equal(mismatches(expecting({ error: "refused" }), fault).length, 1);
  assert.equal(mismatches(expecting({ error: "notFound", value: 1 }), fault).length, 1);
  assert.equal(mismatches(expecting({ error: "notFound" }), { value: 1, ...none }).length, 1);
});

Deno.test("every write counts, also one that was not expected", () => {
  const end = { value: null, logs: ["a line"], writes: { "desk/a": "1", "desk/b": null } };
  assert.deepEqual(mismatches(expecting({ writes: { "desk/b": null, "desk/a": "1" } }), end), []);
  assert.equal(mismatches(expecting({ writes: { "desk/a": "1" } }), end).length, 1);
  assert.equal(mismatches(expecting({ logs: "another" }), end).length, 1);
});

Deno.test("a file of cases that is wrong is a fault that says where", () => {
  const wrong = (text: string, said: RegExp): void =>
    assert.throws(
      () => parseToolCases(text),
      (error) =>
        error instanceof Fault && error.code === "invalidInput" && said.test(error.message),
    );
  wrong("cases: []", /cases/);
  wrong("cases: [{ tool: t, expected: 1 }]", /cases\.0/);
  wrong("cases: [{ tool: t, expect: { error: nope } }]", /cases\.0\.expect\.error/);
  wrong("cases: [{ tool: t, files: { /etc/passwd: x } }]", /files/);
  wrong("a: [", /Cannot read tool_test\.yaml/);
});

Deno.test("the small world reads, lists, writes and deletes as a task's files do", async () => {
  const { serve, writes } = makeToolWorld({
    files: { "desk/a.txt": "h\u00e4llo", "desk/sub/b.txt": "b", "other/c": "c" },
    http: {},
  });
  assert.deepEqual(await serve("fs.read", { path: "desk/a.txt", from: 3, bytes: 2 }), {
    text: "ll",
    bytes: 6,
    next: 5,
    end: false,
  });
  assert.deepEqual(await serve("fs.list", { path: "desk" }), {
    entries: [
      { path: "desk/a.txt", kind: "file", bytes: 6 },
      { path: "desk/sub", kind: "folder", bytes: 0 },
    ],
    cut: false,
  });
  await serve("fs.write", { path: "desk/new", text: "n" });
  await serve("fs.delete", { path: "other/c" });
  await assert.rejects(serve("fs.read", { path: "other/c" }), /does not exist/);
  await assert.rejects(serve("tool.call", { name: "x" }), /no task around it/);
  await assert.rejects(serve("http.fetch", { url: "https://example.org/" }), /does not name it/);
  assert.deepEqual(writes(), { "desk/new": "n", "other/c": null });
});
