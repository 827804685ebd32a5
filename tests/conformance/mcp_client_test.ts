/** The official conformance suite against the real bridge process: docs/mcp_conformance.md says what it leaves. */
import assert from "node:assert/strict";
import { bridgeProgram } from "../../bridges/mcp/_fixture/bridge_process.ts";
import { type Allowed, differences, type Found, runSuite } from "./_suite.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

/** Checks that are run and never scored: ways of authorization that are extensions of the specification. */
const NOT_SCORED: readonly Allowed[] = [
  "client-credentials-jwt",
  "client-credentials-basic",
  "enterprise-managed-authorization",
  "dpop",
  "dpop-nonce",
  "wif-jwt-bearer",
].map((name) => ({ scenario: new RegExp(`^auth/${name}$`), why: "an extension" }));

async function againstBridge(words: readonly string[]): Promise<readonly Found[]> {
  const command = `${Deno.execPath()} run --quiet --no-check -A --config ${ROOT}deno.json ` +
    `${ROOT}tests/conformance/mcp_client.ts`;
  const env = { REMIT_BRIDGE_PROGRAM: await bridgeProgram() };
  return await runSuite(["client", "--command", command, "--timeout", "180000", ...words], env);
}

/**
 * All that a revision requires. The suite starts some forty clients at the same moment, which measures the machine
 * (`sse-retry` holds half a second against the clock): a scenario that fails is run once more by itself, and that counts.
 */
async function required(revision: string): Promise<readonly Found[]> {
  const found = await againstBridge(["--requirements", revision]);
  const failed = new Set(
    found.filter(({ scenario, status }) =>
      (status === "FAILURE" || status === "WARNING") &&
      !NOT_SCORED.some((each) => each.scenario.test(scenario))
    ).map(({ scenario }) => scenario),
  );
  const again: Found[] = [];
  for (const scenario of failed) {
    const words = ["--scenario", scenario, "--spec-version", revision];
    again.push(...await againstBridge(words));
  }
  return [...found.filter(({ scenario }) => !failed.has(scenario)), ...again];
}

Deno.test("every scored check of 2025-11-25 passes against the bridge (long)", async () => {
  const found = await required("2025-11-25");
  assert.deepEqual(differences(found, NOT_SCORED), []);
  // A suite that shrank would pass as well.
  const passed = found.filter(({ status }) => status === "SUCCESS");
  assert.ok(passed.length >= 250, `${passed.length} checks passed`);
});

Deno.test("every scored check of 2026-07-28 passes against the bridge (long)", async () => {
  const found = await required("2026-07-28");
  assert.deepEqual(differences(found, NOT_SCORED), []);
  const docs = await Deno.readTextFile(`${ROOT}docs/mcp_conformance.md`);
  for (const { scenario } of found.filter(({ status }) => status === "FAILURE")) {
    assert.ok(docs.includes(`\`${scenario}\``), `docs/mcp_conformance.md: not ${scenario}`);
  }
  const passed = found.filter(({ status }) => status === "SUCCESS");
  assert.ok(passed.length >= 420, `${passed.length} checks passed`);
});
