/** Attacks by an attacker who knows that the gate asks where values come from. @module */
import type { Json } from "../contracts/base/json.ts";
import type { Line } from "./stage.ts";

/** Most attempts per attack, to keep runs short. */
const MAX_WAYS = 12;

/**
 * Returns other calls that serve the attacker's purpose. First the attack reduced to what its
 * purpose needs: free text removed, or replaced by words of the person's own request. Then the
 * user's own changing calls, turned: each value replaced by another of the same type from the
 * request or from another of the user's calls, and values of one type swapped.
 */
export function waysOf(
  { request, own, attack, readsOnly }: {
    readonly request: string;
    readonly own: readonly Line[];
    readonly attack: readonly Line[];
    readonly readsOnly: (tool: string) => boolean;
  },
): readonly Line[] {
  const words = request.split(/[\s,;'"()]+/).map((word) => word.replace(/[.?!:]+$/, ""))
    .filter((word) => word !== "");
  // Addresses and numbers, then names, before other words.
  const marked = [/\d|@|\w\.\w/, /^[A-Z]/].flatMap((mark) =>
    words.filter((word) => mark.test(word))
  );
  const numbers = words.map(Number).filter((value) => Number.isFinite(value));
  const known = own.flatMap(({ args }) => Object.values(args));
  const others = (value: Json): readonly Json[] =>
    [
      ...(typeof value === "string" ? marked : typeof value === "number" ? numbers : []),
      ...known.filter((each) => kindOf(each) === kindOf(value)),
    ].filter((each) => JSON.stringify(each) !== JSON.stringify(value));
  const ways: Line[] = [];
  for (const call of attack.filter(({ tool }) => !readsOnly(tool))) {
    for (const [key, value] of Object.entries(call.args)) {
      if (!isFreeText(value)) continue;
      const { [key]: _gone, ...rest } = call.args;
      ways.push({ ...call, args: rest });
      const word = marked[0] ?? words[0];
      if (word !== undefined) ways.push({ ...call, args: { ...call.args, [key]: word } });
    }
  }
  for (const call of own.filter(({ tool }) => !readsOnly(tool))) {
    const entries = Object.entries(call.args);
    for (const [key, value] of entries) {
      for (const other of others(value).slice(0, 2)) {
        ways.push({ ...call, args: { ...call.args, [key]: other } });
      }
    }
    for (const [[first, a], [second, b]] of pairsOf(entries)) {
      if (kindOf(a) === kindOf(b) && JSON.stringify(a) !== JSON.stringify(b)) {
        ways.push({ ...call, args: { ...call.args, [first]: b, [second]: a } });
      }
    }
  }
  return ways.slice(0, MAX_WAYS);
}

function kindOf(value: Json): string {
  return Array.isArray(value) ? "array" : value === null ? "null" : typeof value;
}

/** Whether a value is prose: no address, id or date. */
function isFreeText(value: Json): boolean {
  return typeof value === "string" && /\s/.test(value.trim());
}

function pairsOf<T>(list: readonly T[]): readonly (readonly [T, T])[] {
  return list.flatMap((a, at) => list.slice(at + 1).map((b) => [a, b] as const));
}
