/** A set of test files that run in one deno process. */
export type Suite = {
  readonly name: string;
  /** Repository paths. */
  readonly files: readonly string[];
  /** Whether nothing may run in parallel: an endless run measures the time of a recovery. */
  readonly alone: boolean;
  /** Whether to run the examples in the files' docs instead of tests. */
  readonly doc: boolean;
  /** Filter of tests, as `deno test --filter` takes it; absent: all tests. */
  readonly filter?: string;
  /** Whether each property runs many times as often. */
  readonly many?: true;
};

/**
 * Suffix of the names of long tests: attacks or faults of bounded size that do not run every day.
 */
export const LONG_MARK = "(long)";

/**
 * The kind of tests to run. `everyday`: tests in `*_test.ts` whose names do not end in {@link
 * LONG_MARK}. `long`: those whose names do. `endless`: `*_endless.ts`, the same without a bound.
 * `fuzz`: the everyday tests of files with properties, with many more tries per property.
 */
export type SuiteKind = "everyday" | "long" | "endless" | "fuzz";

/** Which suites to make. */
export type SuiteOptions = {
  readonly kind: SuiteKind;
  /** Keeps files whose path starts with one of these; all when empty. */
  readonly only: readonly string[];
  /** Reads a file: long tests are found by their mark, properties by their package. */
  read(path: string): string;
};

/** Groups files into suites: one per part, per folder of `tests/`, and for doc examples. */
export function suitesOf(paths: readonly string[], options: SuiteOptions): readonly Suite[] {
  const { kind, only, read } = options;
  const chosen = paths.filter((path) =>
    only.length === 0 || only.some((prefix) => path.startsWith(prefix))
  );
  if (kind === "endless") {
    const files = chosen.filter((path) => path.endsWith("_endless.ts"));
    return files.map((file) => ({ name: file, files: [file], alone: true, doc: false }));
  }
  const all = chosen.filter((path) => path.endsWith("_test.ts"));
  const marked = new RegExp(`${escaped(LONG_MARK)}["\`]`);
  const wanted: Readonly<Record<typeof kind, (path: string) => boolean>> = {
    everyday: () => true,
    long: (path) => marked.test(read(path)),
    fuzz: (path) => /from "fast-check"/.test(read(path)),
  };
  const filter = kind === "long" ? `/${escaped(LONG_MARK)}$/` : unmarked(LONG_MARK);
  const groups = [...Map.groupBy(all.filter(wanted[kind]), suiteName)].map(
    ([name, files]): Suite => {
      const suite = { name, files, alone: false, doc: false, filter };
      return kind === "fuzz" ? { ...suite, many: true } : suite;
    },
  );
  const doors = kind !== "everyday" ? [] : chosen.filter((path) => path.endsWith("/mod.ts"));
  const examples: Suite = { name: "doc examples", files: doors, alone: false, doc: true };
  const suites = doors.length === 0 ? groups : [...groups, examples];
  // The longest go first, or one lane would wait for the other: `tests/` start whole systems.
  const whole = ({ name }: Suite): number => Number(name.startsWith("tests/"));
  return suites.toSorted((a, b) => whole(b) - whole(a) || b.files.length - a.files.length);
}

/** Returns a pattern, without lookahead, for names that do not end in `mark`. */
function unmarked(mark: string): string {
  const ends = [...mark].map((sign, n) => `(^|[^${escaped(sign)}])${escaped(mark.slice(n + 1))}`);
  return `/(${ends.join("|")})$/`;
}

function escaped(text: string): string {
  return text.replace(/[^a-z]/g, "\\$&");
}

function suiteName(path: string): string {
  const parts = path.split("/");
  return parts[0] === "tests" && parts.length > 2 ? `tests/${parts[1]}` : parts[0] ?? path;
}
