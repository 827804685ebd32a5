/** How much a grammar lets a model write, where a schema does not say. @module */

/** Bounds of what the grammar allows. All have defaults. */
export interface GrammarOptions {
  /** Characters of a string whose schema has no `maxLength`. 512. */
  readonly textLength?: number | undefined;
  /** Most characters of any string, whatever its schema says. 65,536. */
  readonly mostLength?: number | undefined;
  /** Items of an array whose schema has no `maxItems`, and most of any: 16 and 1,024. */
  readonly items?: number | undefined;
  /** Entries under keys that a schema does not name. 8. */
  readonly entries?: number | undefined;
  /** How often a schema that refers to itself is followed. 4. */
  readonly recursion?: number | undefined;
  /** Levels of a value of which nothing is said. 2. */
  readonly freeDepth?: number | undefined;
  /** One space is allowed after `:` and `,`. False: no white space at all. */
  readonly spaces?: boolean | undefined;
}

/** {@link GrammarOptions} with their defaults. */
export interface Bounds {
  readonly textLength: number;
  readonly mostLength: number;
  readonly items: number;
  readonly mostItems: number;
  readonly entries: number;
  readonly recursion: number;
  readonly freeDepth: number;
  readonly spaces: boolean;
}

/** Fills in what is left out. */
export function boundsOf(options: GrammarOptions): Bounds {
  return Object.freeze({
    textLength: options.textLength ?? 512,
    mostLength: options.mostLength ?? 65_536,
    items: options.items ?? 16,
    mostItems: 1_024,
    entries: options.entries ?? 8,
    recursion: options.recursion ?? 4,
    freeDepth: options.freeDepth ?? 2,
    spaces: options.spaces ?? false,
  });
}
