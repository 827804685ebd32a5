/** Colour and label of what a toolhost reads: the mount's and its marks'. @module */
import type { Colour, Label } from "../../contracts/authority/colour.ts";
import type { HostMount } from "../../contracts/wire/wire_toolhost.ts";
import type { Source } from "../../contracts/authority/question.ts";
import { type Globs, makeGlobs } from "../glob.ts";

/** Trust (colour) and confidentiality (label) of content. */
export interface Taint {
  readonly colour: Colour;
  readonly label: Label;
}

const COLOURS: readonly Colour[] = ["BLUE", "YELLOW", "RED"];
const LABELS: readonly Label[] = ["public", "internal", "secret"];

/** The neutral element of {@link mix}. */
export const CLEAN: Taint = Object.freeze({ colour: "BLUE", label: "public" });

/** The less trusted colour and the more confidential label: contracts/authority without schemas. */
export function mix(a: Taint, b: Partial<Taint>): Taint {
  const colour = b.colour ?? a.colour, label = b.label ?? a.label;
  return {
    colour: COLOURS.indexOf(a.colour) >= COLOURS.indexOf(colour) ? a.colour : colour,
    label: LABELS.indexOf(a.label) >= LABELS.indexOf(label) ? a.label : label,
  };
}

/** Gives each path's taint. The kernel adds what it knows of the content. */
export interface Taints {
  /** The taint of a path, before its content is known. */
  ofPath(mount: Pick<HostMount, "name" | "colour" | "label">, parts: readonly string[]): Taint;
}

/** The part of a mount that says how far its files are trusted. */
export interface MarkedMount extends Taint {
  readonly name: string;
  readonly marks: readonly {
    readonly path: string;
    readonly colour?: Colour | undefined;
    readonly label?: Label | undefined;
  }[];
}

interface Mark extends Partial<Taint> {
  readonly globs: Globs;
}

function readMark(mark: MarkedMount["marks"][number]): Mark {
  // A plain name marks itself and everything beneath, but no file of the same name in other
  // folders.
  const plain = !/[/*?]/.test(mark.path);
  return {
    globs: makeGlobs([plain ? `${mark.path}/**` : mark.path], { anyCase: true }),
    ...(mark.colour === undefined ? {} : { colour: mark.colour }),
    ...(mark.label === undefined ? {} : { label: mark.label }),
  };
}

/** Makes the taints of one task. */
export function makeTaints(setup: { readonly mounts: readonly MarkedMount[] }): Taints {
  const marks = new Map(setup.mounts.map((mount) => [mount.name, mount.marks.map(readMark)]));
  return Object.freeze({
    ofPath(mount: Pick<HostMount, "name" | "colour" | "label">, parts: readonly string[]): Taint {
      let taint: Taint = { colour: mount.colour, label: mount.label };
      for (const mark of marks.get(mount.name) ?? []) {
        if (mark.globs.covers(parts)) taint = mix(taint, mark);
      }
      return taint;
    },
  });
}

/** A source entry for the question: which path brought which taint. */
export function sourceOf(path: string, taint: Taint): Source {
  return { source: path.slice(0, 512), colour: taint.colour, label: taint.label };
}
