/** Mounts within mounts: labels of an inner mount also hold where its files are reached through an outer one. @module */
import { within } from "./places.ts";
import { mixColour, mixLabel } from "../../contracts/authority/mod.ts";
import { Fault } from "../../contracts/base/mod.ts";
import type { Mount } from "../../contracts/tool/mod.ts";

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
