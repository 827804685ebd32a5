/** Small notes beside the contents, by key: they make a repeated call idempotent. @module */
import type { Digest } from "../../contracts/authority/ids.ts";
import type { Json } from "../../contracts/base/json.ts";
import type { StagedChange } from "../../contracts/tool/workspace.ts";
import { about } from "./_trouble.ts";
import { readFile } from "./content.ts";
import type { HostState } from "./state.ts";

function at(state: HostState, key: string, kind: string): string {
  return `${state.contentFolder}/${key.replaceAll(/[^0-9a-z]/g, "")}.${kind}`;
}

function note(state: HostState, path: string, value: unknown): void {
  about("keep", "a note", () => {
    const partial = `${path}.tmp`;
    if (state.files.stat(partial) !== undefined) state.files.remove(partial);
    state.files.create(partial, new TextEncoder().encode(JSON.stringify(value)), 0o600);
    state.files.rename(partial, path);
    state.files.settle(state.contentFolder);
  });
}

function recall(state: HostState, path: string): Json | undefined {
  return about("read", "a note", () => {
    if (state.files.stat(path) === undefined) return undefined;
    return JSON.parse(new TextDecoder().decode(readFile(state.files, path)));
  });
}

/** Notes the change that a call is about to apply at once. */
export function remembered(state: HostState, key: string, change: StagedChange): void {
  note(state, at(state, key, "change"), change);
}

/** The change that an earlier run of this call noted. */
export function recalled(state: HostState, key: string): StagedChange | undefined {
  // TRUST: written by this program into a folder that no other program writes.
  return recall(state, at(state, key, "change")) as StagedChange | undefined;
}

/** Notes the folders that a patch is about to make, so that undo can remove them. */
export function rememberFolders(state: HostState, patch: string, made: readonly string[]): void {
  note(state, at(state, patch, "folders"), made);
}

/** The folders that earlier runs of this patch made. */
export function recallFolders(state: HostState, patch: string): readonly string[] {
  const value = recall(state, at(state, patch, "folders"));
  return Array.isArray(value) ? value.filter((path) => typeof path === "string") : [];
}

/** A file by name and content: undo identifies a deleted file by both. */
interface Held {
  readonly path: string;
  readonly digest: Digest;
}

async function modeKey(state: HostState, { path, digest }: Held): Promise<string> {
  return await state.sha256(new TextEncoder().encode(`${digest} ${path}`));
}

/** Notes a file's permission bits before its deletion: undo keeps a private file private. */
export async function rememberMode(state: HostState, file: Held, mode: number): Promise<void> {
  note(state, at(state, await modeKey(state, file), "mode"), mode);
}

/** The permission bits that a file had when this task deleted it. */
export async function recallMode(state: HostState, file: Held): Promise<number | undefined> {
  const value = recall(state, at(state, await modeKey(state, file), "mode"));
  return typeof value === "number" ? value : undefined;
}
