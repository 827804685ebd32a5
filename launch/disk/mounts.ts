/** Parses mounts of flags and remit.yaml, and checks them against what must never be mounted. @module */
import { basename, dirname } from "node:path";
import { mixColour, mixLabel, MountName, worseClaim } from "../../contracts/authority/mod.ts";
import { Fault } from "../../contracts/base/mod.ts";
import { type Mount, MountMode } from "../../contracts/tool/mod.ts";
import type { DiskRead, Environment } from "./machine.ts";
import { makeExportLists } from "./export_lists.ts";
import { absolute, type Places, within } from "./places.ts";

/** A mount before it is resolved. */
export interface MountWish {
  readonly name: string;
  readonly dir: string;
  readonly mode: MountMode;
}

function wrong(text: string, why: string): Fault {
  return new Fault("invalidInput", `Cannot mount "${text}": ${why}`);
}

/**
 * Parses `NAME=DIR[:ro|stage|rw]`.
 *
 * @throws Fault `invalidInput`.
 */
export function parseMount(text: string): MountWish {
  const at = text.indexOf("=");
  if (at < 0) throw wrong(text, "write NAME=DIR, or NAME=DIR:ro");
  const name = MountName.safeParse(text.slice(0, at));
  if (!name.success) {
    throw wrong(text, "a name is a-z, 0-9, _ and -, begins with a letter, and has at most 32");
  }
  const rest = text.slice(at + 1);
  const colon = rest.lastIndexOf(":");
  const mode = MountMode.safeParse(colon < 0 ? "stage" : rest.slice(colon + 1));
  const dir = colon >= 0 && mode.success ? rest.slice(0, colon) : rest;
  if (dir === "") throw wrong(text, "the folder is missing");
  // `x:wr` is more likely a wrong mode than a folder with a colon.
  if (colon >= 0 && !mode.success && /^[a-z]{1,8}$/.test(rest.slice(colon + 1))) {
    throw wrong(text, `"${rest.slice(colon + 1)}" is no mode: there is ro, stage, rw`);
  }
  return { name: name.data, dir, mode: mode.success ? mode.data : "stage" };
}

/** A mount name for a folder given without one. */
export function mountNameOf(dir: string): string {
  const name = basename(dir).toLowerCase().replace(/[^a-z0-9_-]+/g, "-").replace(/^[^a-z]+/, "");
  return name === "" ? "folder" : name.slice(0, 32);
}

function overlap(a: string, b: string): boolean {
  return within(a, b) || within(b, a);
}

/**
 * Resolves a wish to a mount.
 *
 * @throws Fault `notFound` when there is no such folder; `refused` when the mount touches Remit's
 * state, or would make Remit's own code writable.
 */
export function resolveMount(
  wish: MountWish,
  parts: {
    readonly environment: Pick<Environment, "cwd" | "env" | "home">;
    readonly disk: Pick<DiskRead, "real" | "stat" | "read">;
    readonly places: Places;
    readonly colour?: Mount["colour"] | undefined;
    readonly label?: Mount["label"] | undefined;
  },
): Mount {
  const { environment, disk, places } = parts;
  const asked = absolute(environment, wish.dir);
  const dir = disk.real(asked);
  if (dir === undefined || disk.stat(dir)?.folder !== true) {
    throw new Fault("notFound", `Cannot mount "${wish.dir}": there is no such folder`);
  }
  for (const own of [places.state, places.runtime]) {
    if (overlap(dir, disk.real(own) ?? own)) {
      throw new Fault("refused", `Cannot mount "${wish.dir}": Remit's state lies in or above it`);
    }
  }
  if (within(disk.real(places.cache) ?? places.cache, dir) && wish.mode !== "ro") {
    throw new Fault(
      "refused",
      `Cannot mount "${wish.dir}" as ${wish.mode}: Remit's built code lies in it; add :ro`,
    );
  }
  const home = disk.real(environment.home) ?? environment.home;
  if (wish.mode !== "ro" && overlap(dir, home)) {
    throw new Fault(
      "refused",
      `Cannot mount "${wish.dir}" as ${wish.mode}: Remit's own code lies in or above it; add :ro`,
    );
  }
  const told = { colour: parts.colour ?? "YELLOW", label: parts.label ?? "internal" } as const;
  // Export lists within the mount label their files one by one; tools do not see a list around the mount, so its worst label covers the mount.
  const enclosing = makeExportLists(disk).over(dirname(dir));
  return {
    name: MountName.parse(wish.name),
    dir,
    mode: wish.mode,
    ...(enclosing === undefined ? told : worseClaim(told, enclosing)),
    marks: [],
  };
}

const MODES = ["rw", "stage", "ro"] as const;

/**
 * The same mounts, each with the colours and labels of the mounts within it.
 *
 * @throws Fault `refused` where an outer mount would write an inner mount's files with less review
 */
export function nestMounts(mounts: readonly Mount[]): Mount[] {
  return mounts.map((outer) =>
    mounts.reduce((whole, inner) => {
      if (inner.name === outer.name || !within(inner.dir, outer.dir)) return whole;
      checkModes(outer, inner);
      const { colour, label } = inner;
      const at = inner.dir.slice(outer.dir.length).replace(/^\//, "").replace(/[*?]/g, "?");
      const marks = inner.marks.map((mark) => ({ ...mark, path: beneath(at, mark.path) }));
      if (at !== "") {
        return { ...whole, marks: [...whole.marks, { path: `${at}/**`, colour, label }, ...marks] };
      }
      return {
        ...whole,
        colour: mixColour(whole.colour, colour),
        label: mixLabel(whole.label, label),
        marks: [...whole.marks, ...marks],
      };
    }, outer)
  );
}

function checkModes(outer: Mount, inner: Mount): void {
  if (MODES.indexOf(outer.mode) >= MODES.indexOf(inner.mode)) return;
  throw new Fault(
    "refused",
    `Cannot mount "${outer.name}" as ${outer.mode}: "${inner.name}" lies in it and is ${inner.mode}; ` +
      `make both ${inner.mode}, or leave one out`,
  );
}

/** An inner mount's mark, in terms of the outer mount. */
function beneath(at: string, path: string): string {
  if (at === "" || path.includes("/")) return at === "" ? path : `${at}/${path}`;
  // A name without a folder: a plain name lies at the top, a pattern anywhere.
  return /[*?]/.test(path) ? `${at}/**/${path}` : `${at}/${path}/**`;
}
