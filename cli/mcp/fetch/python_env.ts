/** What a Python within walls is told of where its packages lie. @module */

/** Its environment: packages of a virtual environment or of a tree, and no files written beside the code. */
export function pythonEnv(
  packages: readonly string[],
): Readonly<Record<string, string>> | undefined {
  if (packages.length === 0) return undefined;
  return { PYTHONPATH: packages.join(":"), PYTHONDONTWRITEBYTECODE: "1" };
}
