/**
 * Colour and label of what the wiki keeps, all rules in one place. Nothing else in the store computes either.
 * docs/decision/0013.
 * @module
 */
import { type Colour, type Label, mixColour, mixLabel } from "../../contracts/authority/mod.ts";

/** How far something is trusted, and how confidential it is. */
export interface Trust {
  readonly colour: Colour;
  readonly label: Label;
}

/** The best that a file may be which no store of this machine vouches for. */
const BY_HAND: Trust = Object.freeze({ colour: "YELLOW", label: "internal" });

/** The lowest colour and the highest label of all. */
export function mixTrust(first: Trust, ...rest: readonly Trust[]): Trust {
  return rest.reduce(
    (a, b) => ({ colour: mixColour(a.colour, b.colour), label: mixLabel(a.label, b.label) }),
    { colour: first.colour, label: first.label },
  );
}

/** Of a source's version: as its bringer says, and no better than what was recorded for these bytes before. */
export function sourceTrust(claimed: Trust, recorded: Trust | undefined): Trust {
  return recorded === undefined ? mixTrust(claimed) : mixTrust(claimed, recorded);
}

/**
 * Of a raw file that was found without its state: never better than {@link BY_HAND}. What the catalogue beside it
 * claims of its bytes, which anyone may have written, can only make it worse.
 */
export function adoptedTrust(
  recorded: Trust | undefined,
  claimed: Trust | undefined = undefined,
): Trust {
  return mixTrust(
    BY_HAND,
    ...(recorded === undefined ? [] : [recorded]),
    ...(claimed === undefined ? [] : [claimed]),
  );
}

/** Of what has bytes, or cites bytes, that are found to be worse than was known when it was judged. */
export function worsenedTrust(have: Trust, found: Trust): Trust {
  return mixTrust(have, found);
}

/** Whether both are as trusted and as confidential. */
export function sameTrust(a: Trust, b: Trust): boolean {
  return a.colour === b.colour && a.label === b.label;
}

/**
 * Of a page that a patch writes: its sources, what the patch's author had read, and the page's version before,
 * unless the change is made from the cited sources alone.
 */
export function patchedTrust(page: {
  readonly patch: Trust;
  readonly cited: readonly Trust[];
  readonly before: Trust | undefined;
  readonly fresh: boolean;
}): Trust {
  const before = page.before === undefined || page.fresh ? [] : [page.before];
  return mixTrust(page.patch, ...page.cited, ...before);
}

/**
 * Of a page that was changed past the store: never better than {@link BY_HAND}, its sources or its version before.
 * Of one that the store never had, what its front matter shows can only make it worse.
 */
export function handTrust(page: {
  readonly cited: readonly Trust[];
  readonly before: Trust | undefined;
  readonly shown: Partial<Trust>;
  readonly recorded: Trust | undefined;
}): Trust {
  const { before, shown, recorded } = page;
  const known = before ?? { ...BY_HAND, ...shown };
  return mixTrust(BY_HAND, known, ...page.cited, ...(recorded === undefined ? [] : [recorded]));
}

/** Of the very version that a person has signed for: as signed, better or worse. */
export function markedTrust(mark: Trust): Trust {
  return mixTrust(mark);
}
