import assert from "node:assert/strict";
import fc from "fast-check";
import { EffectClass } from "../contracts/authority/mod.ts";
import { NO_POLICY, type PlacedRule, PolicyRule } from "../contracts/policy/mod.ts";
import { Profile } from "../contracts/task/mod.ts";
import { stringify } from "yaml";
import { mergeLayers } from "./layers.ts";
import { parseConfigText } from "./text.ts";

const GRAVITY = ["auto", "consent", "stepUp", "forbidden"] as const;
const DEFAULTS = {
  read: "auto",
  stage: "auto",
  mutateLocal: "consent",
  outboundRead: "forbidden",
  outboundWrite: "forbidden",
  destructive: "stepUp",
  admin: "stepUp",
} as const;

interface Call {
  readonly profile: Profile;
  readonly tool: string;
  readonly effect: EffectClass;
  readonly path: string;
}

/** The reading of rules that the broker promises: forbid wins, then first match, then default. */
function modeOf(rules: readonly PlacedRule[], call: Call): number {
  const fits = (rule: PlacedRule): boolean => {
    const among = (wish: string | readonly string[] | undefined, is: string): boolean =>
      wish === undefined || [wish].flat().includes(is);
    return among(rule.profile, call.profile) && among(rule.tool, call.tool) &&
      among(rule.effect, call.effect) && among(rule.path, call.path);
  };
  const fitting = rules.filter(fits);
  if (fitting.some(({ mode }) => mode === "forbidden" || mode === "suppress")) return 3;
  const mode = fitting[0]?.mode ?? DEFAULTS[call.effect];
  return mode === "suppress" ? 3 : GRAVITY.indexOf(mode);
}

const tools = fc.constantFrom("file_read", "file_edit", "http_fetch");
const paths = fc.constantFrom("desk/a", "desk/b");
const effects = fc.constantFrom(...EffectClass.options);
const profiles = fc.constantFrom(...Profile.options);
const rule = fc.record({
  profile: fc.oneof(profiles, fc.array(profiles, { minLength: 1, maxLength: 2 })),
  tool: tools,
  effect: fc.oneof(effects, fc.array(effects, { minLength: 1, maxLength: 3 })),
  path: paths,
  mode: fc.constantFrom("auto", "consent", "stepUp", "forbidden", "suppress"),
}, { requiredKeys: ["mode"] }).map((each) => PolicyRule.parse(each));
const rules = fc.array(rule, { maxLength: 6 });
const call: fc.Arbitrary<Call> = fc.record({
  profile: profiles,
  tool: tools,
  effect: effects,
  path: paths,
});

const fileOf = (name: string, config: object): ReturnType<typeof parseConfigText> =>
  parseConfigText(name, stringify({ version: 1, ...config }));

Deno.test("an untrusted file never makes any call freer", () => {
  fc.assert(
    fc.property(rules, rules, call, (own, theirs, asked) => {
      const mine = { file: fileOf("own.yaml", { rules: own }), trusted: true };
      const other = { file: fileOf("theirs.yaml", { rules: theirs }), trusted: false };
      const before = modeOf(mergeLayers([mine]).policy.rules, asked);
      const after = modeOf(mergeLayers([mine, other]).policy.rules, asked);
      assert.ok(after >= before, `${GRAVITY[before]} became ${GRAVITY[after]}`);
    }),
    { numRuns: 2_000 },
  );
});

Deno.test("an untrusted forbid always holds", () => {
  fc.assert(fc.property(rules, call, (own, asked) => {
    const ban = { tool: asked.tool, mode: "forbidden" };
    const merged = mergeLayers([
      { file: fileOf("own.yaml", { rules: own }), trusted: true },
      { file: fileOf("theirs.yaml", { rules: [ban] }), trusted: false },
    ]);
    assert.equal(modeOf(merged.policy.rules, asked), 3);
  }));
});

Deno.test("an untrusted consent and stepUp rule hold where the default is milder", () => {
  const merged = mergeLayers([{
    file: fileOf("theirs.yaml", {
      rules: [{ tool: "file_read", mode: "consent" }, { tool: "file_edit", mode: "stepUp" }],
    }),
    trusted: false,
  }]);
  const at = (tool: string, effect: EffectClass): number =>
    modeOf(merged.policy.rules, { profile: "operator", tool, effect, path: "desk/a" });
  assert.equal(GRAVITY[at("file_read", "read")], "consent");
  assert.equal(GRAVITY[at("file_edit", "stage")], "stepUp");
  assert.equal(GRAVITY[at("file_read", "outboundRead")], "forbidden");
});

Deno.test("limits only fall, strictness only rises, clearances and results only shrink", () => {
  const own = fileOf("own.yaml", {
    limits: { money: 2, toolCalls: 10 },
    clearance: { "https://a.example": "secret" },
    selfConsent: true,
    tools: { file_read: { resultBytes: 1_000 } },
  });
  const theirs = fileOf("theirs.yaml", {
    model: "scripted:theirs.yaml",
    limits: { money: 500, toolCalls: 5, outputTokens: 1 },
    clearance: { "https://a.example": "internal", "https://evil.example": "secret", x: "public" },
    strict: true,
    selfConsent: false,
    tools: { file_read: { resultBytes: 9_000_000 } },
    never: ["diary/**", "!.env.example"],
  });
  const { policy, model, notes } = mergeLayers([
    { file: own, trusted: true },
    { file: theirs, trusted: false },
  ]);
  assert.equal(model, undefined);
  assert.deepEqual(policy.limits, { money: 2, toolCalls: 5, outputTokens: 1 });
  assert.deepEqual(policy.clearance, { "https://a.example": "internal", x: "public" });
  assert.equal(policy.strict, true);
  assert.equal(policy.selfConsent, false);
  assert.deepEqual(policy.resultBytes, { file_read: 1_000 });
  assert.deepEqual(policy.never.map((each) => each.glob), ["diary/**"]);
  assert.ok(notes.some((note) => note.startsWith("theirs.yaml:2:")), notes.join("\n"));
  assert.ok(notes.some((note) => /exception of the never-list/.test(note)), notes.join("\n"));
});

Deno.test("an untrusted file alone cannot raise a limit above the built-in one", () => {
  const theirs = fileOf("theirs.yaml", {
    limits: { money: 1_000, callsByEffect: { destructive: 999 } },
  });
  const { policy } = mergeLayers([{ file: theirs, trusted: false }]);
  assert.equal(policy.limits.money, 1);
  assert.equal(policy.limits.callsByEffect?.["destructive"], 20);
});

Deno.test("a folder that is trusted speaks before the operator's own file", () => {
  const { policy, model } = mergeLayers([
    { file: fileOf("own.yaml", { model: "a:b", rules: [{ mode: "auto" }] }), trusted: true },
    { file: fileOf("folder.yaml", { model: "c:d", rules: [{ mode: "stepUp" }] }), trusted: true },
  ]);
  assert.equal(model, "c:d");
  assert.deepEqual(policy.rules.map((each) => each.mode), ["stepUp", "auto"]);
});

Deno.test("no layer at all is the built-in default", () => {
  assert.deepEqual(mergeLayers([]).policy, NO_POLICY);
});

Deno.test("mallory's folder cannot choose Chromium or its program, and may want no scripts", () => {
  const chromium = { engine: "chromium", program: "/usr/bin/evil" };
  const theirs = (browser: unknown) => ({
    file: fileOf("theirs.yaml", { browser }),
    trusted: false,
  });
  const own = { file: fileOf("own.yaml", { browser: { engine: "chromium" } }), trusted: true };
  const refused = mergeLayers([theirs(chromium)]);
  assert.equal(refused.browser.engine, "static");
  assert.ok(refused.notes.some((note) => note.includes('"browser" could widen')));
  const kept = mergeLayers([own, theirs(chromium)]).browser;
  assert.deepEqual(kept, { engine: "chromium", program: "/usr/bin/chromium" });
  assert.equal(mergeLayers([own, theirs({ engine: "static" })]).browser.engine, "static");
  assert.equal(mergeLayers([]).browser.engine, "static");
});
