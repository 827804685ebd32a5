/** Factor on each property's number of runs, for `--fuzz`. */
const TIMES = 50;
/** Longest time that one property is tried then, in milliseconds. */
const MAX_MS = 30_000;

/** Returns the source of a module imported before a suite's tests, which seeds their properties. */
export function seedModule(seed: number): string {
  return `import fc from "fast-check";\nfc.configureGlobal({ seed: ${seed} });\n`;
}

/**
 * Returns the source of a module that replaces fast-check and runs each property {@link TIMES}
 * times as often.
 */
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
 * Returns an import map in which tests get `manyRuns` (a URL) for fast-check, while modules beside
 * `manyRuns` get the package itself. `imports`: those of deno.json, including the packages' inner
 * paths.
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
