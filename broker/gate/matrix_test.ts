import { equal } from "node:assert/strict";
import type { Colour, EffectClass, Label } from "../../contracts/authority/mod.ts";
import type { PermissionMode } from "../../contracts/tool/mod.ts";
import { COLOURS, LABELS } from "../_fixture/fake_processes.ts";
import { makeWorld } from "../_fixture/world.ts";

/**
 * The table of docs/design.md written out by hand: for each colour, what the flow alone asks for, as
 * [at or below clearance, above clearance].
 */
const OUTBOUND_WRITE: Record<Colour, readonly [string, string]> = {
  BLUE: ["auto", "consent"],
  YELLOW: ["consent", "stepUp"],
  RED: ["consent", "forbidden"],
};
const OUTBOUND_READ: Record<Colour, readonly [string, string]> = {
  BLUE: ["auto", "consent"],
  YELLOW: ["auto", "stepUp"],
  RED: ["consent", "forbidden"],
};

/** Pairs of label and clearance in which the label is above. */
const ABOVE = new Set(["internal>public", "secret>public", "secret>internal"]);

/** The graver of a policy's mode and what the flow asks for, written out. */
const GRAVER: Record<PermissionMode, Record<string, string>> = {
  auto: { auto: "auto", consent: "consent", stepUp: "stepUp", forbidden: "forbidden" },
  consent: { auto: "consent", consent: "consent", stepUp: "stepUp", forbidden: "forbidden" },
  stepUp: { auto: "stepUp", consent: "stepUp", stepUp: "stepUp", forbidden: "forbidden" },
  forbidden: {
    auto: "forbidden",
    consent: "forbidden",
    stepUp: "forbidden",
    forbidden: "forbidden",
  },
};

const MODES: readonly PermissionMode[] = ["auto", "consent", "stepUp", "forbidden"];

async function matrix(effect: EffectClass, strict: boolean): Promise<number> {
  const table = effect === "outboundWrite" ? OUTBOUND_WRITE : OUTBOUND_READ;
  let cases = 0;
  for (const clearance of LABELS) {
    for (const mode of MODES) {
      const world = await makeWorld({
        policy: {
          strict,
          clearance: { "https://sink.example": clearance },
          rules: [{ tool: "sink", mode, at: "remit.yaml:7" }],
        },
      });
      world.add({
        name: "sink",
        effect,
        resolve: () => ({
          destination: "https://sink.example",
          scopes: [{ resource: "net", right: "use", path: "https://sink.example" }],
        }),
      });
      for (const colour of COLOURS) {
        for (const label of LABELS) {
          world.alice.colour = colour;
          world.alice.label = label;
          const above = ABOVE.has(`${label}>${clearance}`);
          const expected = GRAVER[mode][table[colour][above ? 1 : 0]];
          const decision = world.decide("sink");
          const got = decision.kind === "refuse"
            ? decision.code === "contaminated" ? "contaminated" : "forbidden"
            : decision.mode;
          const short = effect === "outboundWrite" ? colour !== "BLUE" : colour === "RED";
          const wanted = strict && short && mode !== "forbidden" ? "contaminated" : expected;
          equal(got, wanted, `${effect} ${colour} ${label}>${clearance} ${mode} strict=${strict}`);
          cases++;
        }
      }
    }
  }
  return cases;
}

Deno.test("every colour, label, clearance and mode comes to what the design says", async () => {
  equal(await matrix("outboundWrite", false), 108);
  equal(await matrix("outboundRead", false), 108);
});

Deno.test("under strict, a colour that falls short is refused as contaminated instead of asked about", async () => {
  equal(await matrix("outboundWrite", true), 108);
  equal(await matrix("outboundRead", true), 108);
});

Deno.test("mallory launders secret red text through a patch: the patch's own colour and label count", async () => {
  const world = await makeWorld({
    policy: { rules: [{ tool: "sink", mode: "auto", at: "remit.yaml:7" }] },
  });
  const carried: { colour: Colour; label: Label } = { colour: "BLUE", label: "public" };
  world.add({
    name: "sink",
    effect: "outboundWrite",
    resolve: () => ({
      ...carried,
      destination: "https://sink.example",
      scopes: [{ resource: "net", right: "use", path: "https://sink.example" }],
    }),
  });
  equal(world.decide("sink").kind, "allow");
  carried.label = "secret";
  equal(world.decide("sink").kind, "ask");
  carried.colour = "RED";
  const decision = world.decide("sink");
  equal(decision.kind === "refuse" && decision.code, "clearance");
});

Deno.test("an outbound call that names no sink goes to one that is cleared for nothing", async () => {
  const world = await makeWorld({
    row: { label: "internal" },
    policy: { rules: [{ tool: "sink", mode: "auto", at: "remit.yaml:7" }] },
  });
  world.add({ name: "sink", effect: "outboundWrite" });
  equal(world.decide("sink").kind, "ask");
});
