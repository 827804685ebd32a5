/** What a schema lost on its way to the gate, for a reviewer. @module */

/** Collects what was left out, by reason. */
export interface SchemaNotes {
  /** A check was left out at this place: more passes than the server takes. */
  loosen(what: string, at: string): void;
  /** An ordinary schema holds no such thing. */
  trick(what: string, at: string): void;
  /** How often something was left out so far. */
  count(): number;
  readonly loosened: ReadonlyMap<string, readonly string[]>;
  readonly tricks: ReadonlyMap<string, readonly string[]>;
}

const SHOWN = 4;

/** Makes an empty collection. */
export function makeSchemaNotes(): SchemaNotes {
  const loosened = new Map<string, string[]>(), tricks = new Map<string, string[]>();
  let count = 0;
  const add = (to: Map<string, string[]>, what: string, at: string): void => {
    count += 1;
    const places = to.get(what) ?? [];
    if (places.length < 100 && !places.includes(at)) places.push(at);
    to.set(what, places);
  };
  return Object.freeze({
    loosen: (what: string, at: string) => add(loosened, what, at),
    trick: (what: string, at: string) => add(tricks, what, at),
    count: () => count,
    loosened,
    tricks,
  });
}

/** One sentence for each reason: `"pattern" is not checked: path, edits[].text and 3 more`. */
export function noteLines(notes: ReadonlyMap<string, readonly string[]>): readonly string[] {
  return [...notes].map(([what, places]) => {
    const more = places.length - SHOWN;
    const shown = places.slice(0, SHOWN).join(", ");
    return `${what}: ${shown}${more > 0 ? ` and ${more} more` : ""}`;
  });
}
