/** The used part of lowlight. Its own declarations include a browser's document, which clashes with Deno's. */
export const common: Readonly<Record<string, unknown>>;
export function createLowlight(grammars: typeof common): {
  registered(language: string): boolean;
  /** A tree of hast. */
  highlight(language: string, code: string): unknown;
};
