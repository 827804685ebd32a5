/**
 * Takes the console away from the SDK: what it prints would stand between the frames of our port.
 * @module
 */

let hear: (text: string) => void = () => {};

/** Warnings of the SDK go here from now on; it writes what servers say into them. */
export function hearWarnings(to: (text: string) => void): void {
  hear = to;
}

for (const name of ["log", "debug", "info", "trace", "dir", "table", "group", "error"]) {
  Object.defineProperty(console, name, { value: () => {} });
}
Object.defineProperty(console, "warn", {
  value: (...said: unknown[]) => hear(said.filter((part) => typeof part === "string").join(" ")),
});
