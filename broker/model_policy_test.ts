import { deepEqual, equal, match, ok } from "node:assert/strict";
import fc from "fast-check";
import type { Label } from "../contracts/authority/mod.ts";
import type { ModelSink } from "../contracts/model/mod.ts";
import type { PolicySource } from "../contracts/policy/mod.ts";
import { Profile } from "../contracts/task/mod.ts";
import { COLOURS, LABELS, makeRow } from "./_fixture/fake_processes.ts";
import { makeModelPolicy, whyModelRefused } from "./model_policy.ts";

type Source = Pick<PolicySource, "clearance" | "modelsFor">;
const policyOf = (source: Partial<Source> = {}): ReturnType<typeof makeModelPolicy> =>
  makeModelPolicy({ clearance: {}, modelsFor: {}, ...source });

const REMOTE: ModelSink = { ref: "openai:m", remote: true, host: "api.example.com" };
const LOCAL: ModelSink = { ref: "gguf:small", remote: false };

Deno.test("by default operators reach remote models, guests and strangers those of this machine", () => {
  const judge = policyOf();
  const reached = (model: ModelSink): boolean[] =>
    Profile.options.map((profile) => judge(profile, model, "public").allowed);
  deepEqual(Profile.options, ["operator", "guest", "anonymous"]);
  deepEqual(reached(REMOTE), [true, false, false]);
  deepEqual(reached(LOCAL), [true, true, true]);
});

Deno.test("modelsFor says who reaches how far, and a refusal names it and what to do", () => {
  const judge = policyOf({ modelsFor: { operator: "local", guest: "remote", anonymous: "none" } });
  ok(judge("guest", REMOTE, "public").allowed);
  const operator = judge("operator", REMOTE, "public");
  equal(operator.rule, "remit.yaml: modelsFor.operator is local");
  match(operator.why ?? "", /local model with --model/);
  for (const model of [REMOTE, LOCAL]) {
    const nobody = judge("anonymous", model, "public");
    equal(nobody.allowed, false);
    equal(nobody.rule, "remit.yaml: modelsFor.anonymous is none");
    match(nobody.why ?? "", /modelsFor\.anonymous/);
  }
  equal(
    policyOf()("guest", REMOTE, "public").rule,
    "built-in: guest sessions use local models only",
  );
});

Deno.test("text above a provider's clearance stays home, and the refusal names the key to raise", () => {
  const judge = policyOf();
  ok(judge("operator", REMOTE, "internal").allowed);
  const secret = judge("operator", REMOTE, "secret");
  deepEqual([secret.allowed, secret.rule], [
    false,
    "built-in: remote models are cleared for internal",
  ]);
  match(secret.why ?? "", /raise clearance of "model:api\.example\.com"/);
  ok(judge("operator", LOCAL, "secret").allowed);
});

Deno.test("a clearance is of one model, else of its provider's host, else the default", () => {
  const judge = policyOf({
    clearance: { "model:OpenAI:m": "public", "model:api.example.com": "secret" },
  });
  equal(judge("operator", REMOTE, "internal").rule, "remit.yaml: clearance of model:openai:m");
  ok(!judge("operator", REMOTE, "internal").allowed);
  ok(judge("operator", { ...REMOTE, ref: "openai:n" }, "secret").allowed);
  ok(!judge("operator", { ...REMOTE, ref: "openai:n", host: "b.example.com" }, "secret").allowed);
});

Deno.test("mallory's server would have had what `openai:` is cleared for, speaking its protocol", () => {
  const judge = policyOf({
    clearance: {
      "model:openai:*": "secret",
      "model:openai": "secret",
      "model:api.example.com": "secret",
      "openai:m": "secret",
      "https://mallory.example": "secret",
    },
  });
  for (
    const sink of [
      { ref: "openai:m@https://mallory.example/v1", host: "mallory.example" },
      { ref: "openai:m", host: "api.example.com.mallory.example" },
      { ref: "openai:m", host: "api.example.com:8443" },
    ]
  ) {
    equal(judge("operator", { ...sink, remote: true }, "secret").allowed, false, sink.host);
  }
});

const label = fc.constantFrom<Label>(...LABELS);
const reach = fc.constantFrom("none", "local", "remote" as const);
const RANK: readonly Label[] = LABELS;

Deno.test("profile, reach, label and clearance decide, each as it should, and colour never", () => {
  fc.assert(
    fc.property(
      fc.record({
        profile: fc.constantFrom(...Profile.options),
        reach: fc.option(reach, { nil: undefined }),
        remote: fc.boolean(),
        label,
        ofModel: fc.option(label, { nil: undefined }),
        ofHost: fc.option(label, { nil: undefined }),
        colour: fc.constantFrom(...COLOURS),
      }),
      (s) => {
        const clearance: Record<string, Label> = {};
        if (s.ofModel !== undefined) clearance["model:openai:m"] = s.ofModel;
        if (s.ofHost !== undefined) clearance["model:api.example.com"] = s.ofHost;
        const judge = makeModelPolicy({
          clearance,
          modelsFor: s.reach === undefined ? {} : { [s.profile]: s.reach },
        });
        const model = { ref: "openai:m", remote: s.remote, host: "api.example.com" };
        const why = whyModelRefused(judge, makeRow(s), model);

        const reach = s.reach ?? (s.profile === "operator" ? "remote" : "local");
        const limit = s.ofModel ?? s.ofHost ?? (s.remote ? "internal" : "secret");
        const expected = reach !== "none" && (reach === "remote" || !s.remote) &&
          RANK.indexOf(s.label) <= RANK.indexOf(limit);
        equal(why === undefined, expected, why);
        if (why !== undefined) match(why, /\((built-in|remit\.yaml): .+\)$/);
        for (const colour of COLOURS) {
          equal(whyModelRefused(judge, makeRow({ ...s, colour }), model), why);
        }
        // Nothing that only narrows lets more through.
        const lower = { ...clearance, "model:openai:m": "public" as const };
        const narrower = makeModelPolicy({ clearance: lower, modelsFor: { [s.profile]: "local" } });
        if (whyModelRefused(narrower, makeRow(s), model) === undefined) {
          ok(why === undefined || s.reach === "none");
        }
      },
    ),
  );
});
