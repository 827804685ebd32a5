import assert from "node:assert/strict";
import { attack } from "../_beside.ts";

Deno.test("mallory's imports would have read a file, run a package or fetched a program", async () => {
  await attack(
    `const told = {};
     for (const url of [
       "file:///etc/passwd", "file:///etc/os-release", "file:///proc/self/environ", "/etc/hostname", "./kernel.js", "./toolhost.js",
       "npm:zod", "jsr:@std/path", "http://127.0.0.1:1/x.js", "https://localhost/x.js", "blob:null/x",
     ]) {
       told[url] = await import(url).then((m) => Object.keys(m).length, (e) => e.name);
       told["json " + url] = await import(url, { with: { type: "json" } }).then((m) => Object.keys(m).length, (e) => e.name);
       told["text " + url] = await import(url, { with: { type: "text" } }).then((m) => Object.keys(m).length, (e) => e.name);
     }
     const nested = 'data:text/javascript,import x from "file:///etc/os-release" with { type: "text" }; export default x';
     told.nested = await import(nested).then((m) => m.default, (e) => e.name);
     const graph = 'data:text/javascript,export * from "file:///etc/os-release"';
     told.graph = await import(graph).then((m) => Object.keys(m).length, (e) => e.name);
     return { stop: "answered", text: JSON.stringify(told) };`,
    async ({ mallory }) => {
      assert.equal((await mallory.end).status, "done");
      const told = JSON.parse(String((await mallory.task())["answer"])) as Record<string, unknown>;
      const got = Object.entries(told).filter(([, found]) => typeof found !== "string");
      assert.deepEqual(got, []);
      assert.equal(JSON.stringify(told).includes("Debian"), false);
      assert.equal(Object.keys(told).length, 35);
    },
  );
});
