import { ok } from "node:assert/strict";
import fc from "fast-check";
import {
  type Colour,
  type Decision,
  EffectClass,
  type Label,
  ToolName,
} from "../../contracts/authority/mod.ts";
import type { CapabilityGrant, PlacedRule } from "../../contracts/policy/mod.ts";
import { Phase, Profile } from "../../contracts/task/mod.ts";
import type { PermissionMode } from "../../contracts/tool/mod.ts";
import { COLOURS, LABELS } from "../_fixture/fake_processes.ts";
import { makeWorld, type World } from "../_fixture/world.ts";

/** How much a decision lets happen: more is graver for the caller. */
function gravity(decision: Decision): number {
  if (decision.kind === "refuse") return 4;
  if (decision.kind === "allow") return decision.reused === undefined ? 0 : 1;
  return decision.mode === "stepUp" ? 3 : 2;
}

const rule = fc.record({
  mode: fc.constantFrom<PermissionMode | "suppress">(
    "auto",
    "consent",
    "stepUp",
    "forbidden",
    "suppress",
  ),
  tool: fc.constantFrom("act", "*", "other"),
  path: fc.option(fc.constantFrom("desk/**", "desk/a.sh", "DESK/**"), { nil: undefined }),
  destination: fc.option(fc.constantFrom("https://*.example", "outbox"), { nil: undefined }),
}).map(({ mode, tool, path, destination }): PlacedRule => ({
  mode,
  tool,
  at: "remit.yaml:1",
  ...(path === undefined ? {} : { path }),
  ...(destination === undefined ? {} : { destination }),
}));

const state = fc.record({
  effect: fc.constantFrom(...EffectClass.options),
  profile: fc.constantFrom(...Profile.options),
  phase: fc.constantFrom(...Phase.options),
  colour: fc.constantFrom<Colour>(...COLOURS),
  label: fc.constantFrom<Label>(...LABELS),
  clearance: fc.constantFrom<Label>(...LABELS),
  strict: fc.boolean(),
  rules: fc.array(rule, { maxLength: 4 }),
  destination: fc.option(fc.constantFrom("https://a.example", "outbox"), { nil: undefined }),
  path: fc.constantFrom("desk/a.md", "desk/a.sh", "desk/x.env"),
  answered: fc.constantFrom<"nothing" | "once" | "turn" | "session">(
    "nothing",
    "once",
    "turn",
    "session",
  ),
});

type State = typeof state extends fc.Arbitrary<infer S> ? S : never;

async function worldOf(s: State): Promise<World> {
  const world = await makeWorld({
    policy: { rules: s.rules, strict: s.strict, clearance: { "https://a.example": s.clearance } },
    row: {
      onQuestion: "queue",
      profile: s.profile,
      phase: s.phase,
      colour: s.colour,
      label: s.label,
    },
  });
  world.add({
    name: "act",
    effect: s.effect,
    resolve: () => ({
      scopes: [{ resource: "mount", right: "write", path: s.path }],
      ...(s.destination === undefined ? {} : { destination: s.destination }),
    }),
  });
  return world;
}

/** A person's answer to the call as it stands, if it is one that may be remembered so long. */
async function answerFirst(world: World, s: State): Promise<void> {
  if (s.answered === "nothing" || world.decide("act").kind !== "ask") return;
  await world.call("act").catch(() => undefined);
  const [question] = world.questions.open();
  if (question === undefined || question.kind !== "consent") return;
  if (s.answered !== "once" && question.remember === undefined) return;
  await world.answer({ for: s.answered });
}

const HARDER: Record<string, (world: World, s: State) => void> = {
  colour: ({ alice }) => {
    alice.colour = COLOURS[Math.min(2, COLOURS.indexOf(alice.colour) + 1)] ?? "RED";
  },
  label: ({ alice }) => {
    alice.label = LABELS[Math.min(2, LABELS.indexOf(alice.label) + 1)] ?? "secret";
  },
  lease: ({ leases, alice }) => {
    const scope = { resource: "mount", right: "write", path: "desk" } as const;
    const lease = leases.covering(alice.pid, scope);
    if (lease !== undefined) leases.end(lease.id, "revoked");
  },
  capability: (world) => {
    const none: CapabilityGrant[] = [
      { tool: ToolName.parse("act"), where: { path: ["nothing/of/this"] } },
    ];
    world.processes.rows.set(world.alice.pid, { ...world.alice, capabilities: none });
  },
  budget: ({ processes }) => {
    processes.limit = () => "toolCalls";
  },
  phase: ({ alice }) => {
    alice.phase = "review";
  },
  answers: ({ questions }) => {
    for (const { question } of questions.grants.list()) questions.grants.revoke(question);
  },
};

Deno.test("less authority, lower colour or higher label never allows more, nor asks for less", async () => {
  await fc.assert(
    fc.asyncProperty(
      state,
      fc.array(fc.constantFrom(...Object.keys(HARDER)), { minLength: 1, maxLength: 4 }),
      async (s, steps) => {
        const world = await worldOf(s);
        await answerFirst(world, s);
        let before = world.decide("act");
        for (const step of steps) {
          HARDER[step]?.(world, s);
          const after = world.decide("act");
          ok(gravity(after) >= gravity(before), `${step}: ${before.kind} became ${after.kind}`);
          before = after;
        }
      },
    ),
    { numRuns: 400 },
  );
});

Deno.test("one more forbidding rule never allows more", async () => {
  await fc.assert(
    fc.asyncProperty(state, rule, fc.nat(), async (s, more, at) => {
      const before = (await worldOf(s)).decide("act");
      const place = at % (s.rules.length + 1);
      const rules = [
        ...s.rules.slice(0, place),
        { ...more, mode: "forbidden" as const },
        ...s.rules.slice(place),
      ];
      const after = (await worldOf({ ...s, rules })).decide("act");
      ok(gravity(after) >= gravity(before));
    }),
    { numRuns: 200 },
  );
});

Deno.test("a smaller list of tools never allows more", async () => {
  const world = await makeWorld();
  world.add({ name: "act", effect: "read" });
  ok(world.decide("act").kind === "allow");
  world.processes.rows.set(world.alice.pid, { ...world.alice, capabilities: [] });
  ok(world.decide("act").kind === "refuse");
});
