/** What is used of lowlight. Its own declarations bring those of a browser's document, which clash with Deno's. */
export const common: Readonly<Record<string, unknown>>;
export function createLowlight(grammars: typeof common): {
  registered(language: string): boolean;
  /** A tree of hast. */
  highlight(language: string, code: string): unknown;
};
