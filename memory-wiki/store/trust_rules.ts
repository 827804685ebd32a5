/** All rules for colour and label in the wiki. Nothing else in the store computes them. docs/decision/0013. @module */
import { type Colour, type Label, mixColour, mixLabel } from "../../contracts/authority/mod.ts";

/** Trust and confidentiality. */
export interface Trust {
  readonly colour: Colour;
  readonly label: Label;
}

/** The best trust of a file that no store on this machine vouches for. */
const BY_HAND: Trust = Object.freeze({ colour: "YELLOW", label: "internal" });

/** The least trusted colour and the most confidential label. */
export function mixTrust(first: Trust, ...rest: readonly Trust[]): Trust {
  return rest.reduce(
    (a, b) => ({ colour: mixColour(a.colour, b.colour), label: mixLabel(a.label, b.label) }),
    { colour: first.colour, label: first.label },
  );
}

/** The trust of all of `shown` together; BLUE and public for none. */
export function trustOfAll(shown: Iterable<Trust>): Trust {
  let all: Trust = { colour: "BLUE", label: "public" };
  for (const each of shown) all = mixTrust(all, each);
  return all;
}

/** Trust of a source's version: as claimed, and no better than recorded for its bytes. */
export function sourceTrust(claimed: Trust, recorded: Trust | undefined): Trust {
  return recorded === undefined ? mixTrust(claimed) : mixTrust(claimed, recorded);
}

/**
 * Trust of a raw file without state: never better than {@link BY_HAND}. Anyone may have written the catalogue
 * beside it, so its claim can only lower the trust.
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

/** Trust of something whose bytes, or cited bytes, turn out worse. */
export function worsenedTrust(have: Trust, found: Trust): Trust {
  return mixTrust(have, found);
}

/** Whether colour and label are equal. */
export function sameTrust(a: Trust, b: Trust): boolean {
  return a.colour === b.colour && a.label === b.label;
}

/**
 * Trust of a page that a patch writes: that of its sources, of what the patch's author had read, and of the
 * previous version unless the page is made from the cited sources alone.
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
 * Trust of a page changed outside the store: never better than {@link BY_HAND}, its sources or its previous
 * version. The front matter of an unknown page can only lower it.
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

/** Trust of an exact version that a person signed: as signed, better or worse. */
export function markedTrust(mark: Trust): Trust {
  return mixTrust(mark);
}
