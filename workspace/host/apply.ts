/**
 * Applies changes to mounts: all bases are verified first; then each file is replaced by one
 * rename. Running an interrupted job again finishes it. Used by host.ts and stage.ts.
 * @module
 */
import { Fault, type FaultCode } from "../../contracts/base/fault.ts";
import type { JsonObject } from "../../contracts/base/json.ts";
import type { HostCallAnswer } from "../../contracts/wire/wire_toolhost.ts";
import type { StagedChange } from "../../contracts/tool/workspace.ts";
import { CHECK, PUT_BACK, RESTORE, UNDO } from "../_wire.ts";
import { byText } from "../overlay.ts";
import { parsePath } from "../path.ts";
import { about, faultOf } from "./_trouble.ts";
import { recallFolders, recallMode, rememberFolders, rememberMode } from "./journal.ts";
import type { HostCall, HostState } from "./state.ts";
import { planFile, type PlannedFile, sweep, whyConflict } from "./plan.ts";
import { CLEAN, mix } from "./taint.ts";
import { FsTrouble } from "./files.ts";
import type { Place } from "./judge.ts";

/** A patch to apply. */
interface Job {
  /** Names the temporary files; equal for each run of the same job. */
  readonly id: string;
  readonly changes: readonly StagedChange[];
  /** Folders to remove afterwards if empty: those that the reverted patch had made. */
  readonly prune: readonly string[];
  /** Does nothing where no change is applied yet: then the patch to revert went in whole. */
  readonly unlessWhole?: boolean;
  /** A file that no tool may write now, such as a link, is a conflict of that file alone. */
  readonly each?: boolean;
  /** Creates again a file that is gone. */
  readonly restores?: boolean;
  /** Only looks for conflicts; changes nothing. */
  readonly check?: boolean;
}

/**
 * Applies changes. Returns the folders that were made, as `MOUNT/relative`.
 *
 * @throws Fault `conflict` with detail `{ patch, conflicts }`: nothing was changed; `refused`;
 * `storeFull` and `upstream`: earlier changes of this job were reverted
 */
export async function applyChanges(state: HostState, job: Job): Promise<readonly string[]> {
  const changes = [...job.changes].sort((a, b) => byText(a.path, b.path));
  const plans: PlannedFile[] = [], conflicts: JsonObject[] = [];
  for (const [index, change] of changes.entries()) {
    try {
      const plan = await planFile(state, { change, id: job.id, index, restores: job.restores });
      plans.push(plan);
      if (plan.conflict) conflicts.push(conflictJson(plan));
    } catch (error) {
      if (job.each !== true || !(error instanceof Fault) || !PLACE.has(error.code)) throw error;
      conflicts.push({ path: change.path, why: reasonOf(error) });
    }
  }
  if (job.check !== true) { for (const plan of plans) if (plan.reachable) sweep(state, plan); }
  if (conflicts.length > 0) throw conflictOf(job.id, conflicts);
  if (job.check === true) return [];
  const todo = plans.filter((plan) => !plan.done);
  if (job.unlessWhole === true && todo.length === plans.length) return [];
  const madeBefore = recallFolders(state, job.id);
  const made = makeFolders(state, todo.map((plan) => plan.place), {
    noting: (folders) => rememberFolders(state, job.id, [...madeBefore, ...folders]),
  });
  const undo: (() => Promise<void> | void)[] = [() => pruneFolders(state, made)];
  let name = "the patch";
  try {
    for (const plan of todo) {
      name = plan.change.path;
      undo.push(() => sweep(state, plan));
      await writeNext(state, plan);
      state.reach?.("written");
    }
    for (const plan of todo) {
      name = plan.change.path;
      swap(state, job, plan, undo);
      state.reach?.("swapped");
    }
  } catch (error) {
    await putBack(undo, error);
    throw faultOf(error, "apply", name);
  }
  // All changes are in place; what follows only tidies up.
  for (const plan of todo) sweep(state, plan);
  for (const folder of new Set(todo.map((plan) => plan.folder))) state.files.settle(folder);
  pruneFolders(state, job.prune);
  return [...new Set([...madeBefore, ...made])];
}

async function writeNext(state: HostState, plan: PlannedFile): Promise<void> {
  const { path, base, next } = plan.change;
  if (next === undefined) {
    if (base !== undefined && plan.found !== undefined) {
      await rememberMode(state, { path, digest: base }, plan.found.mode);
    }
    return;
  }
  const mode = plan.found?.mode ?? await recallMode(state, { path, digest: next }) ??
    (plan.change.executable === true ? 0o755 : undefined);
  state.files.create(plan.fresh, await state.content.get(next), mode);
  // INVARIANT: the new content lies where the patch says (test: "… became a link …").
  if (state.files.real(plan.fresh) === plan.fresh) return;
  throw new Fault("refused", `Cannot apply "${path}": links are not written through`);
}

function swap(
  state: HostState,
  job: Job,
  plan: PlannedFile,
  undo: (() => Promise<void> | void)[],
): void {
  const { files } = state;
  const { full } = plan.place;
  const now = files.stat(full), found = plan.found;
  // INVARIANT: a file that changed after it was verified is not overwritten.
  const same = now === undefined ? found === undefined : found !== undefined &&
    now.kind === "file" && now.ino === found.ino && now.dev === found.dev &&
    now.bytes === found.bytes && now.modifiedMs === found.modifiedMs;
  if (!same) {
    throw new Fault("conflict", `Cannot apply the patch: "${plan.change.path}" is being changed`, {
      detail: { patch: job.id, conflicts: [{ path: plan.change.path }] },
    });
  }
  if (found === undefined) {
    files.rename(plan.fresh, full);
    undo.push(() => files.remove(full));
    return;
  }
  if (plan.change.next === undefined) {
    files.rename(full, plan.aside);
    undo.push(() => files.rename(plan.aside, full));
    return;
  }
  files.rename(plan.fresh, full);
  undo.push(async () => {
    if (plan.change.base === undefined) return;
    const bytes = await state.content.get(plan.change.base);
    files.create(plan.fresh, bytes, found.mode);
    files.rename(plan.fresh, full);
  });
}

async function putBack(
  undo: readonly (() => Promise<void> | void)[],
  cause: unknown,
): Promise<void> {
  const failures: unknown[] = [];
  for (const step of undo.toReversed()) {
    try {
      await step();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length === 0) return;
  throw new Fault(
    "upstream",
    "Cannot apply the patch: it failed, and so did putting some files back; apply it again or undo it",
    { cause: new AggregateError([cause, ...failures]) },
  );
}

/** Refusals caused by what stands at a path. */
const PLACE: ReadonlySet<FaultCode> = new Set(["refused", "notFound", "invalidArguments"]);

/** The part WHY of `Cannot VERB THING: WHY`. */
function reasonOf({ message }: Fault): string {
  return message.slice(message.indexOf('": ') + 3);
}

function conflictJson(plan: PlannedFile): JsonObject {
  return {
    path: plan.change.path,
    ...(plan.wanted === undefined ? {} : { expected: plan.wanted }),
    ...(plan.digest === undefined ? {} : { found: plan.digest }),
    why: whyConflict(plan),
  };
}

function conflictOf(patch: string, found: readonly JsonObject[]): Fault {
  const names = found.slice(0, 5).map(({ path }) => `"${path}"`).join(", ");
  const conflicts = found.slice(0, 10_000);
  return new Fault(
    "conflict",
    `Cannot apply the patch: ${names} changed in the folder meanwhile. Nothing was changed. ` +
      "Read the folder's version with fresh: true and stage the change again with fresh: true",
    { detail: { patch, conflicts } },
  );
}

/** `patch_apply` and undo. The kernel makes the arguments: `{ patch, changes, prune? }`. */
export async function patchApply(state: HostState, call: HostCall): Promise<HostCallAnswer> {
  const parsed = parseApply(call.args);
  const alone = call.tool === UNDO && parsed.putBack === undefined;
  const job = { ...parsed, each: alone };
  const { id: patch, changes } = job;
  // A job with the patch's own name finds the folders that the patch had made.
  if (job.check === true) {
    await applyChanges(state, job);
    return { content: "", ...mix(CLEAN, call.caller), sources: [] };
  }
  const prune = job.putBack === undefined ? job.prune : recallFolders(state, patch);
  const made = await applyChanges(state, { ...job, prune, unlessWhole: job.putBack === "half" });
  for (const change of changes) {
    if (state.overlay.get(change.path)?.next === change.next) state.overlay.drop(change.path);
  }
  const taint = changes.reduce((all, change) => mix(all, change), mix(CLEAN, call.caller));
  return {
    content: `applied ${changes.length} ${changes.length === 1 ? "change" : "changes"}: ` +
      changes.slice(0, 50).map((change) => change.path).join(", "),
    ...taint,
    sources: [],
    value: { patch, made },
    written: patch,
    writtenBytes: changes.reduce((sum, change) => sum + change.bytes, 0),
  };
}

function parseApply(args: JsonObject): Job & { readonly putBack: "half" | "all" | undefined } {
  const { patch, changes, prune } = args;
  if (typeof patch !== "string" || !/^[0-9a-f]{64}$/.test(patch) || !Array.isArray(changes)) {
    throw new Fault("invalidArguments", "Cannot apply a patch: its arguments are not the kernel's");
  }
  const putBack = args[PUT_BACK];
  return {
    id: patch,
    // TRUST: made and parsed by the kernel; each path is parsed again where it is used.
    changes: changes as unknown as readonly StagedChange[],
    prune: Array.isArray(prune)
      ? prune.filter((path) => typeof path === "string").map((path) => parsePath(path).text)
      : [],
    check: args[CHECK] === true,
    restores: args[RESTORE] === true,
    putBack: putBack === "half" || putBack === "all" ? putBack : undefined,
  };
}

// Folders that a patch needs, and the removal of those that it made.

/** Makes the missing folders above these places. Returns their names, outermost first. */
function makeFolders(
  state: HostState,
  places: readonly Place[],
  options: { readonly noting: (names: readonly string[]) => void },
): readonly string[] {
  const missing = new Map<string, string>();
  for (const { path, mount } of places) {
    for (let depth = 1; depth < path.parts.length; depth++) {
      const rel = path.parts.slice(0, depth).join("/");
      const name = `${mount.name}/${rel}`, full = `${mount.root}/${rel}`;
      if (missing.has(name)) continue;
      const above = `${mount.name}/${path.parts.slice(0, depth - 1).join("/")}`;
      // Beneath a missing folder everything is missing.
      if (missing.has(above)) missing.set(name, full);
      else if (about("apply", name, () => state.files.stat(full)) === undefined) {
        missing.set(name, full);
      }
    }
  }
  const names = [...missing.keys()];
  if (names.length === 0) return names;
  options.noting(names);
  const made: string[] = [];
  try {
    for (const [name, full] of missing) {
      about("apply", name, () => state.files.makeFolder(full));
      made.push(name);
    }
  } catch (error) {
    pruneFolders(state, made);
    throw error;
  }
  return names;
}

/** Removes these folders where they are empty, innermost first. */
function pruneFolders(state: HostState, names: readonly string[]): void {
  for (const name of [...names].sort((a, b) => b.length - a.length)) {
    try {
      state.files.remove(state.judge.writable(parsePath(name)).full);
    } catch (error) {
      // Not empty, or gone: in both cases the folder is no longer the patch's.
      if (!(error instanceof FsTrouble)) throw error;
    }
  }
}
