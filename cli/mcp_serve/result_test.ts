import { equal } from "node:assert/strict";
import { question } from "../_fixture/samples.ts";
import { mayConsent } from "./result.ts";

Deno.test("a host's person answers consent alone, to what they are shown, and nothing that administers", () => {
  const own = { selfConsent: true, clearance: "internal" } as const;
  const { scope } = question();
  equal(mayConsent(question(), own), true);
  equal(mayConsent(question(), { ...own, selfConsent: false }), false);
  for (const kind of ["stepUp", "recovery", "budget", "brake", "elicit"]) {
    equal(mayConsent(question({ kind }), own), false, kind);
  }
  equal(mayConsent(question({ scope: { ...scope, effect: "admin" } }), own), false);
  equal(mayConsent(question({ scope: { ...scope, label: "secret" } }), own), false);
});
