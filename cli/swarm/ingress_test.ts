import assert from "node:assert/strict";
import { ingressOf } from "./kernel_tasks.ts";

const ASKED = {
  swarm: "sw000000000001",
  work: "author",
  heard: false,
  label: "public",
  merged: "BLUE",
} as const;

Deno.test("an author who is told nothing but the issue begins YELLOW; with an earlier task's words it begins RED", () => {
  assert.equal(ingressOf(ASKED, "internal").colour, "YELLOW");
  assert.equal(ingressOf({ ...ASKED, heard: true }, "internal").colour, "RED");
  for (const work of ["stage", "review"] as const) {
    assert.equal(ingressOf({ ...ASKED, work }, "internal").colour, "RED");
  }
});

Deno.test("a request is as confidential as what earlier tasks had read, and never less than the folder", () => {
  assert.equal(ingressOf({ ...ASKED, label: "secret" }, "internal").label, "secret");
  assert.equal(ingressOf(ASKED, "internal").label, "internal");
});

Deno.test("an author whose tree holds a merged change begins with the colour of that change's author, and never below YELLOW", () => {
  assert.equal(ingressOf({ ...ASKED, merged: "RED" }, "internal").colour, "RED");
  assert.equal(ingressOf({ ...ASKED, merged: "YELLOW" }, "internal").colour, "YELLOW");
});
