/** Each property runs so many times as often as it says, where faults are looked for. */
const TIMES = 50;
/** Longest that one property is tried then, milliseconds. */
const MAX_MS = 30_000;

/** Source of the module that is imported before a suite's tests: its properties follow from `seed`. */
export function seedModule(seed: number): string {
  return `import fc from "fast-check";\nfc.configureGlobal({ seed: ${seed} });\n`;
}

/** Source of a module that stands for fast-check: the same, and \`assert\` tries many times as often. */
export function manyRunsModule(): string {
  return `import real from "fast-check";
export * from "fast-check";
const assert = (property, given = {}) => real.assert(property, {
  ...given,
  numRuns: (given.numRuns ?? 100) * ${TIMES},
  interruptAfterTimeLimit: ${MAX_MS},
});
export default { ...real, assert };
`;
}

/**
 * An import map with which tests get `manyRuns` (a URL) for fast-check, and what lies beside it the package itself.
 * `imports` is that of deno.json, whose packages are entered by their inner paths, too.
 */
export function manyRunsMap(imports: Readonly<Record<string, string>>, manyRuns: string): string {
  const inner = Object.entries(imports).map(([name, to]) => [
    `${name}/`,
    `${to.replace(/^npm:/, "npm:/")}/`,
  ]);
  return JSON.stringify({
    imports: { ...imports, ...Object.fromEntries(inner), "fast-check": manyRuns },
    scopes: { [new URL(".", manyRuns).href]: { "fast-check": imports["fast-check"] } },
  });
}
