/** A set of test files that run in one deno process. */
export type Suite = {
  readonly name: string;
  /** Repository paths. */
  readonly files: readonly string[];
  /** Nothing runs beside it: an endless run measures how long a recovery takes. */
  readonly alone: boolean;
  /** Runs the examples in the docs of the files instead of their tests. */
  readonly doc: boolean;
  /** Which tests of the files run, as `deno test --filter` takes it; absent: all. */
  readonly filter?: string;
  /** Each property is tried many times as often as it says. */
  readonly many?: true;
};

/** Ends the name of a test that is a long run: an attack or a fault in a bounded size, not of every day. */
export const LONG_MARK = "(long)";

/**
 * Which tests are meant. `everyday`: those of `*_test.ts` whose name does not end in {@link LONG_MARK}. `long`: those
 * whose name does. `endless`: those of `*_endless.ts`, the same without a bound. `fuzz`: the everyday tests of files with
 * properties, each of which is tried many times.
 */
export type SuiteKind = "everyday" | "long" | "endless" | "fuzz";

/** Which suites to make. */
export type SuiteOptions = {
  readonly kind: SuiteKind;
  /** Keep files whose path starts with one of these; all when empty. */
  readonly only: readonly string[];
  /** The text of a file: long tests are found by their mark, properties by their package. */
  read(path: string): string;
};

/** Groups the repository's files into suites: one a part, one a folder of `tests/`, one for doc examples. */
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
  // What takes longest goes first, or one lane would wait for the other: `tests/` are whole systems.
  const whole = ({ name }: Suite): number => Number(name.startsWith("tests/"));
  return suites.toSorted((a, b) => whole(b) - whole(a) || b.files.length - a.files.length);
}

/** A pattern, for an engine that does not look ahead, of names that do not end in `mark`. */
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
