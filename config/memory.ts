/**
 * Merges `memory:` of remit.yaml over the layers: an untrusted file only narrows. Used by layers.ts
 * and cli/run/run_setting.ts.
 * @module
 */
import { cleared } from "../contracts/authority/mod.ts";
import { NoteKind } from "../contracts/memory/mod.ts";
import type { MemoryConfig } from "../contracts/policy/mod.ts";
import { defined } from "./narrow.ts";
import type { ConfigFile } from "./text.ts";

/** The merged settings; a key that no layer sets is absent. */
export type MergedMemory = {
  readonly [Key in keyof MemoryConfig]?: Exclude<MemoryConfig[Key], undefined>;
};

/** No layer sets anything. */
export const NO_MEMORY: MergedMemory = Object.freeze({});

const ACCESS = ["none", "read", "propose"] as const;
const USER = ["none", "read", "write"] as const;
/** Days that task logs are kept by default. */
const TASK_LOG_DAYS = 90;

/** Puts a trusted layer over `have`, key by key. */
export function overlayMemory(have: MergedMemory, wish: MemoryConfig | undefined): MergedMemory {
  return { ...have, ...defined(wish) };
}

/** Narrows `have` by an untrusted file: less access, more review, shorter retention. */
export function narrowMemory(
  have: MergedMemory,
  file: Pick<ConfigFile, "config" | "at">,
): { readonly memory: MergedMemory; readonly notes: readonly string[] } {
  const { config: { memory: wish } } = file, notes: string[] = [];
  if (wish === undefined) return { memory: have, notes };
  const widens = (key: string): void =>
    void notes.push(`${file.at(["memory", key])}: "memory.${key}" could widen`);
  if (wish.wiki !== undefined) widens("wiki");
  const [access, user] = [have.access ?? "propose", have.user ?? "write"];
  if (above(ACCESS, wish.access, access)) widens("access");
  if (above(USER, wish.user, user)) widens("user");
  const clearance = have.clearance ?? "secret";
  if (wish.clearance !== undefined && !cleared(wish.clearance, clearance)) widens("clearance");
  const days = wish.retention?.taskLog, now = have.retention?.taskLog ?? TASK_LOG_DAYS;
  if (days !== undefined && days > now) widens("retention");
  const review = NoteKind.options.filter((kind) =>
    have.review?.includes(kind) || wish.review?.includes(kind)
  );
  return {
    memory: {
      ...have,
      access: lower(ACCESS, access, wish.access),
      user: lower(USER, user, wish.user),
      clearance: wish.clearance !== undefined && cleared(wish.clearance, clearance)
        ? wish.clearance
        : clearance,
      ...(review.length === 0 ? {} : { review }),
      ...(days === undefined ? {} : { retention: { taskLog: Math.min(days, now) } }),
    },
    notes,
  };
}

function above<T extends string>(order: readonly T[], wish: T | undefined, have: T): boolean {
  return wish !== undefined && order.indexOf(wish) > order.indexOf(have);
}

function lower<T extends string>(order: readonly T[], have: T, wish: T | undefined): T {
  return wish === undefined || above(order, wish, have) ? have : wish;
}
