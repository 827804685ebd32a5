/** Gate step 4: effect and destination against colour and label. @module */
import {
  cleared,
  colourSuffices,
  graverEffect,
  mixColour,
  mixLabel,
  REQUIRED_COLOUR,
} from "../../contracts/authority/colour.ts";
import type { Colour, EffectClass, Label } from "../../contracts/authority/mod.ts";
import type { PermissionMode } from "../../contracts/tool/mod.ts";
import { graver } from "../defaults.ts";
import { type JudgeParts, type Known, type Read, type Refusal, refuse } from "./parts.ts";

/** Effect, colour and label of a call, and the least mode that they require. */
export interface Flow {
  readonly kind: "flow";
  readonly effect: EffectClass;
  readonly colour: Colour;
  readonly label: Label;
  readonly floor: { readonly mode: PermissionMode; readonly rule: string };
  /** The floor if the colour sufficed. */
  readonly floorOfBlue: { readonly mode: PermissionMode; readonly rule: string };
  readonly executes: readonly string[];
  /** Whether the text's label is above the destination's clearance. */
  readonly above: boolean;
}

/** Mode for text above a sink's clearance, by the sender's colour. */
const ABOVE_CLEARANCE: Readonly<Record<Colour, PermissionMode>> = {
  BLUE: "consent",
  YELLOW: "stepUp",
  RED: "forbidden",
};

const OUTBOUND: ReadonlySet<EffectClass> = new Set(["outboundRead", "outboundWrite"]);
const REVERSIBLE: ReadonlySet<EffectClass> = new Set(["read", "stage"]);

/** The effect, colour and label of a call. */
export type Carried = Pick<Flow, "effect" | "colour" | "label">;

/** Effect, colour and label of a call, from its process and the things it refers to. */
export function flowOf(known: Known, read: Read): Carried {
  const { process, binding } = known, { resolved } = read;
  return {
    effect: graverEffect(binding.effect, resolved.effect),
    colour: mixColour(process.colour, resolved.colour ?? "BLUE"),
    label: mixLabel(process.label, resolved.label ?? "public"),
  };
}

/** Judges the information flow from what the process has read to what the call would change. */
export function judgeFlow(
  known: Known,
  read: Read,
  by: { readonly policy: JudgeParts["policy"]; readonly carried: Carried },
): Flow | Refusal {
  const { policy } = by, { effect, colour, label } = by.carried;
  const { tool } = known, { resolved } = read;
  let above = false;
  let floor: { mode: PermissionMode; rule: string } = { mode: "auto", rule: "" };
  let short: typeof floor | undefined;

  const needed = REQUIRED_COLOUR[effect];
  if (!colourSuffices(colour, needed)) {
    const rule = `built-in: ${effect} needs ${needed}`;
    if (policy.strict) {
      return refuse(
        4,
        `Cannot call "${tool}": ${effect} needs colour ${needed} and what was read is ${colour}; ` +
          "start a task that has not read untrusted text, or ask the operator to do it",
        { code: "contaminated", rule: `${rule} (strict)` },
      );
    }
    short = { mode: "consent", rule };
  }

  // An outbound call that names no sink is treated as one to a sink without clearance.
  const sink = resolved.destination ?? (OUTBOUND.has(effect) ? "" : undefined);
  if (sink !== undefined) {
    const clearance = resolved.clearance ?? policy.clearance(sink);
    if (resolved.returns !== true && !cleared(label, clearance)) {
      above = true;
      const mode = ABOVE_CLEARANCE[colour];
      const rule = `built-in: ${label} text above clearance ${clearance}`;
      if (mode === "forbidden") {
        return refuse(
          4,
          `Cannot call "${tool}": the text is ${label}, its destination is cleared for ` +
            `${clearance}, and untrusted text was read; the operator can raise its clearance, ` +
            (resolved.raise === undefined
              ? `\`clearance: { "${sink}": ${label} }\` in remit.yaml`
              : `\`${resolved.raise} ${label}\``),
          { code: "clearance", rule },
        );
      }
      floor = graver(floor, { mode, rule });
    }
  }

  const executes = laterExecuted(policy, read);
  if (executes.length > 0 && colour !== "BLUE" && !REVERSIBLE.has(effect)) {
    floor = graver(floor, {
      mode: "stepUp",
      rule: "built-in: files that execute later, after untrusted text",
    });
  }
  return {
    ...{ kind: "flow", effect, colour, label, executes, above, floorOfBlue: floor },
    floor: short === undefined ? floor : graver(short, floor),
  };
}

function laterExecuted(policy: JudgeParts["policy"], read: Read): readonly string[] {
  const { executes = [], changes = [], scopes } = read.resolved;
  const written = scopes.filter(({ resource, right }) => resource === "mount" && right === "write");
  if (executes.length + changes.length + written.length === 0) return executes;
  const named = [...changes, ...written].map(({ path }) => path).filter(policy.executes);
  return [...new Set([...executes, ...named])];
}
