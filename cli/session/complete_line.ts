/** Tab completion in a session: slash commands, paths after `@`, and paths in a `!` command. @module */
import { basename, dirname, join } from "node:path";
import { Fault } from "../../contracts/base/mod.ts";
import { displayText } from "../../text/mod.ts";
import { absolute } from "../../launch/disk/places.ts";
import type { Completion } from "../powers.ts";
import type { DiskRead, Environment } from "../../launch/disk/machine.ts";

const MAX_CHOICES = 24;

/** The longest common prefix. */
function common(words: readonly string[]): string {
  const [first = "", ...rest] = words;
  let length = first.length;
  for (const word of rest) {
    while (!word.startsWith(first.slice(0, length))) length -= 1;
  }
  return first.slice(0, length);
}

/** Makes a completion of the text before the cursor; undefined where nothing completes it. */
export function makeComplete(
  { disk, environment, slashes }: {
    readonly disk: Pick<DiskRead, "list" | "stat">;
    readonly environment: Pick<Environment, "cwd" | "env">;
    /** All slash commands. */
    readonly slashes: readonly string[];
  },
): (before: string) => Completion | undefined {
  const of = (typed: string, found: readonly string[]): Completion | undefined => {
    if (found.length === 0) return undefined;
    const by = common(found);
    if (found.length > 1 && by === typed) {
      const shown = found.slice(0, MAX_CHOICES).map((each) => displayText(each, { max: 200 }));
      const more = found.length - shown.length;
      return {
        ...{ replaces: typed.length, by: typed },
        choices: more > 0 ? [...shown, `… ${more} more`] : shown,
      };
    }
    const whole = found.length === 1 && !by.endsWith("/") ? `${by} ` : by;
    return { replaces: [...typed].length, by: whole, choices: [] };
  };
  const paths = (typed: string): Completion | undefined => {
    const folder = typed.endsWith("/") || typed === "" ? typed : `${dirname(typed)}/`;
    const begun = typed.endsWith("/") || typed === "" ? "" : basename(typed);
    const written = typed.includes("/") ? folder : "";
    const place = absolute(environment, typed === "" || written === "" ? "." : folder);
    const found = list(place)
      .filter((name) => name.startsWith(begun) && (begun !== "" || !name.startsWith(".")))
      // Offer only names that stay one word when typed.
      // deno-lint-ignore no-control-regex -- a name may hold anything
      .filter((name) => !/[\s\x00-\x1f]/.test(name))
      .map((name) =>
        `${written}${name}${disk.stat(join(place, name))?.folder === true ? "/" : ""}`
      );
    return of(typed, found);
  };
  const list = (place: string): readonly string[] => {
    try {
      return disk.list(place);
    } catch (error) {
      // A folder that may not be read offers nothing.
      if (error instanceof Fault) return [];
      throw error;
    }
  };
  return (before) => {
    if (/^\/[a-z]*$/.test(before)) {
      return of(before, slashes.filter((each) => each.startsWith(before)));
    }
    const mention = /(?:^|\s)@([^\s]*)$/.exec(before)?.[1];
    if (mention !== undefined) return paths(mention);
    const word = /(?:^|\s)([^\s]*)$/.exec(before)?.[1] ?? "";
    return before.startsWith("!") || word.includes("/") ? paths(word.replace(/^!/, "")) : undefined;
  };
}
