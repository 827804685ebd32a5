/** A browser over a site of the test's own. @module */
import { makeBrowserTools } from "../browser_tools.ts";
import { makeSite, type Served, type Site } from "./site.ts";

/** Answers of calls, and refusals as `code: message`. */
export interface Browser {
  readonly site: Site;
  readonly call: (tool: string, args: object) => Promise<string>;
}

/** A fresh session over `pages`. */
export function makeBrowser(pages: Readonly<Record<string, Served>>): Browser {
  const site = makeSite(pages);
  const tools: Readonly<Record<string, unknown>> = makeBrowserTools();
  return {
    site,
    call: async (tool, args) => {
      const run = tools[tool];
      if (typeof run !== "function") throw new TypeError(`There is no tool ${tool}`);
      try {
        return await run(args, site);
      } catch (error) {
        const { code, message } = error as { readonly code?: string; readonly message: string };
        if (code === undefined) throw error;
        return `${code}: ${message}`;
      }
    },
  };
}

/** The lines of the page that `html` makes, without the header. */
export async function linesOf(html: string): Promise<string> {
  const shown = await makeBrowser({ "https://a.example/d/p": html }).call("browser_open", {
    url: "https://a.example/d/p",
  });
  return shown.slice(shown.indexOf("\n\n") + 2);
}
