/** A set of test files that run in one deno process. */
export type Suite = {
  readonly name: string;
  /** Repository paths. */
  readonly files: readonly string[];
  /** Nothing runs beside it: the long runs of faults, which measure how long a recovery takes. */
  readonly alone: boolean;
  /** Runs the examples in the docs of the files instead of their tests. */
  readonly doc: boolean;
};

/** Which suites to make. */
export type SuiteOptions = {
  /** Run `tests/fault/**\/*_long.ts` only. */
  readonly fault: boolean;
  /** Keep files whose path starts with one of these; all when empty. */
  readonly only: readonly string[];
};

/** Groups the repository's files into suites: one a part, one a folder of `tests/`, one for doc examples. */
export function suitesOf(paths: readonly string[], options: SuiteOptions): readonly Suite[] {
  const wanted = (path: string): boolean =>
    options.only.length === 0 || options.only.some((prefix) => path.startsWith(prefix));
  const chosen = paths.filter(wanted);
  if (options.fault) {
    const files = chosen.filter((path) => /^tests\/fault\/.*_long\.ts$/.test(path));
    return files.map((file) => ({ name: file, files: [file], alone: true, doc: false }));
  }
  const tests = chosen.filter((path) => path.endsWith("_test.ts"));
  const groups = [...Map.groupBy(tests, suiteName)].map(([name, files]): Suite => {
    return { name, files, alone: false, doc: false };
  });
  const doors = chosen.filter((path) => path.endsWith("/mod.ts"));
  const examples: Suite = { name: "doc examples", files: doors, alone: false, doc: true };
  const all = doors.length === 0 ? groups : [...groups, examples];
  // What takes longest goes first, or one lane would wait for the other: `tests/` are whole systems.
  const whole = ({ name }: Suite): number => Number(name.startsWith("tests/"));
  return all.toSorted((a, b) => whole(b) - whole(a) || b.files.length - a.files.length);
}

function suiteName(path: string): string {
  const parts = path.split("/");
  return parts[0] === "tests" && parts.length > 2 ? `tests/${parts[1]}` : parts[0] ?? path;
}
