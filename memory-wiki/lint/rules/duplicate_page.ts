/** Two pages for one thing: one title or alias, or nearly one text. Time grows with pages, not with their pairs. @module */
import type { PageName } from "../../../contracts/mod.ts";
import { bareTitle, bareWords } from "../bare_text.ts";
import type { MakeCheck } from "../rule.ts";
import { bandsOf, likeness, type Sketch, sketchOf } from "../sketch.ts";

/** Texts at least so much alike are told. */
const ALIKE = 0.85;
/** Fewer words may be the same by chance. */
const FEWEST_WORDS = 5;
/** A page is compared with so many of each band. */
const OF_BAND = 3;

/** Rule `duplicatePage`: each page is told once, with the first page that it repeats. */
export const checkDuplicatePage: MakeCheck = (view) => {
  const titles = new Map<string, { readonly name: PageName; readonly title: string }>();
  const bands = new Map<number, PageName[]>();
  const bodies = new Map<string, PageName>();
  const sketches = new Map<PageName, Sketch>();

  return {
    page({ page, file, read }) {
      const { name } = page;
      let first:
        | { readonly name: PageName; readonly why: string; readonly alias: boolean }
        | undefined;
      for (const [index, title] of [page.title, ...page.aliases].entries()) {
        const key = bareTitle(title);
        if (key === "") continue;
        const known = titles.get(key);
        if (known === undefined) titles.set(key, { name, title });
        else if (known.name !== name) {
          first ??= {
            name: known.name,
            why: `is called ${JSON.stringify(known.title)} as well`,
            alias: index > 0,
          };
        }
      }
      const own = bareWords(read.body.replaceAll(/\[\^[^\]\s]*\]:?|^#.*$/gmu, " "));
      const same = own.split(" ").length < FEWEST_WORDS ? undefined : bodies.get(own);
      if (same !== undefined) first ??= { name: same, why: "has the same text", alias: false };
      else bodies.set(own, name);
      const sketch = sketchOf(read.body);
      if (sketch !== undefined) {
        const keys = bandsOf(sketch);
        const near = nearest(sketch, keys);
        if (near !== undefined) {
          first ??= { name: near.name, why: `is ${near.percent} % the same text`, alias: false };
        }
        keep(name, sketch, keys);
      }
      if (first === undefined) return;
      view.tell({
        file,
        line: 1,
        message: `"${first.name}" ${first.why}.`,
        remedy: first.alias
          ? "Let one page have the alias with `remit wiki lint --fix`."
          : `Merge the two in \`remit wiki edit ${first.name}\`, and remove this page in \`remit wiki edit ${name}\`.`,
        fixable: first.alias,
        other: { file: `pages/${first.name}.md`, line: 1 },
      });
    },
  };

  function nearest(
    sketch: Sketch,
    keys: readonly number[],
  ): { readonly name: PageName; readonly percent: number } | undefined {
    let best: { readonly name: PageName; readonly percent: number } | undefined;
    const seen = new Set<PageName>();
    for (const band of keys) {
      for (const name of bands.get(band) ?? []) {
        const other = seen.has(name) ? undefined : sketches.get(name);
        seen.add(name);
        const alike = other === undefined ? 0 : likeness(sketch, other);
        const percent = Math.round(alike * 100);
        if (alike >= ALIKE && percent > (best?.percent ?? 0)) best = { name, percent };
      }
    }
    return best;
  }

  function keep(name: PageName, sketch: Sketch, keys: readonly number[]): void {
    let kept = false;
    for (const band of keys) {
      const known = bands.get(band);
      if (known === undefined) bands.set(band, [name]);
      else if (known.length < OF_BAND) known.push(name);
      else continue;
      kept = true;
    }
    if (kept) sketches.set(name, sketch);
  }
};
