/** A patch that a person denied is not put to them a second time by the review. @module */
import type { Digest, Gate } from "../../contracts/mod.ts";

/** The same gate, and what was denied through it. */
export interface DeniedPatches {
  readonly gate: Gate;
  has(patch: Digest): boolean;
}

/** How a model says that a call has no arguments. */
const NONE: ReadonlySet<string> = new Set(["{}", "null", '"{}"', '"null"']);

/** Watches a gate for denials of the whole patch, which `patch` gives at any moment. */
export function watchDenials(
  gate: Gate,
  patch: () => { readonly id: Digest } | undefined,
): DeniedPatches {
  const denied = new Set<Digest>();
  return Object.freeze({
    gate: Object.freeze({
      advertise: gate.advertise,
      decide: gate.decide,
      withhold: gate.withhold,
      async call(...asked: Parameters<Gate["call"]>): ReturnType<Gate["call"]> {
        const [, call] = asked;
        // With paths it is a part of the patch, and the rest was not spoken of.
        const whole = call.name === "patch_apply" && NONE.has(call.arguments.trim());
        const proposed = whole ? patch() : undefined;
        const result = await gate.call(...asked);
        if (proposed !== undefined && result.outcome === "deniedByUser") denied.add(proposed.id);
        return result;
      },
    }),
    has: (each: Digest) => denied.has(each),
  });
}
