/**
 * What became of patches that were put to a person: one that was denied, or that was allowed and
 * failed, is not put a second time by the review.
 * @module
 */
import type { Digest, Gate, ToolResult } from "../../contracts/mod.ts";

/** The same gate, and what was denied or failed through it. */
export interface DeniedPatches {
  readonly gate: Gate;
  has(patch: Digest): boolean;
  /** Why applying this patch failed, after it was allowed. */
  failed(patch: Digest): string | undefined;
  /** Why a file of a mount in mode `rw` was not written, after it was allowed; nor was it later. */
  unwritten(): string | undefined;
}

/** How a model says that a call has no arguments. */
const NONE: ReadonlySet<string> = new Set(["{}", "null", '"{}"', '"null"']);

/** Tools that write at once to a mount in mode `rw`. */
const WRITING: ReadonlySet<string> = new Set(["file_write", "file_edit", "file_delete"]);

/** How every refusal begins that comes of putting a change into a folder. */
const APPLYING = "Cannot apply";

/** Tells a call that was allowed and failed. */
export function hasFailed({ outcome }: Pick<ToolResult, "outcome">): boolean {
  return outcome === "executionError" || outcome === "timedOut";
}

/** Watches a gate for what becomes of the whole patch, which `patch` gives at any moment. */
export function watchDenials(
  gate: Gate,
  patch: () => { readonly id: Digest } | undefined,
): DeniedPatches {
  const denied = new Set<Digest>(), failed = new Map<Digest, string>();
  const unwritten = new Map<string, string>();
  const note = (result: ToolResult, given: string): void => {
    const path = pathIn(given);
    if (path === undefined) return;
    const why = result.error ?? result.outcome;
    if (result.outcome === "ok") unwritten.delete(path);
    else if (hasFailed(result) && why.startsWith(APPLYING)) unwritten.set(path, why);
  };
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
        if (WRITING.has(call.name)) note(result, call.arguments);
        if (proposed === undefined) return result;
        if (result.outcome === "deniedByUser") denied.add(proposed.id);
        if (hasFailed(result)) failed.set(proposed.id, result.error ?? result.outcome);
        return result;
      },
    }),
    has: (each: Digest) => denied.has(each),
    failed: (each: Digest) => failed.get(each),
    unwritten: () => [...unwritten.values()].at(-1),
  });
}

/** The path that a call names, as it wrote it. */
function pathIn(given: string): string | undefined {
  try {
    const args: unknown = JSON.parse(given);
    const path = args !== null && typeof args === "object" && "path" in args
      ? args.path
      : undefined;
    return typeof path === "string" ? path : undefined;
  } catch {
    // Arguments that cannot be read were refused.
    return undefined;
  }
}
