/**
 * The wiki: pages, sources and their trust.
 *
 * @example
 * ```ts
 * import { PageName } from "./mod.ts";
 * if (PageName.safeParse("../x").success) throw new Error("a name leaves the wiki");
 * ```
 * @module
 */
export * from "./wiki.ts";
export * from "./wiki_page.ts";
export * from "./wiki_source.ts";
export * from "./content_trust.ts";
