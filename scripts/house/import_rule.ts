import { mayImport, mayImportNpm } from "../import_table.ts";
import { importsOf } from "./imports.ts";
import { breach, type Finding, type SourceFile } from "./source.ts";

/** Packages whose named export holds all of them: a bundle keeps what is used only of `import * as`. */
const AS_A_WHOLE: ReadonlySet<string> = new Set(["zod"]);

/** Resolves a relative specifier against the file `from`, both repository paths; undefined when it leaves the repository. */
export function resolveSpecifier(from: string, specifier: string): string | undefined {
  const parts = from.split("/").slice(0, -1);
  for (const part of specifier.split("/")) {
    if (part === "." || part === "") continue;
    if (part !== "..") parts.push(part);
    else if (parts.pop() === undefined) return undefined;
  }
  return parts.join("/");
}

/** Package name of a bare specifier: `zod/v4` is `zod`, `@noble/ed25519/x` is `@noble/ed25519`. */
export function packageName(specifier: string): string {
  return specifier.split("/").slice(0, specifier.startsWith("@") ? 2 : 1).join("/");
}

/** Rule `import`: what a file imports is what the table gives its part, and no more of a package than it uses. */
export function importRule(file: SourceFile): readonly Finding[] {
  const findings: Finding[] = [];
  const say = (line: number, why: string | undefined): void => {
    if (why !== undefined) findings.push(breach("import", file.path, line, why));
  };
  for (const { specifier, line, dynamic, names } of importsOf(file)) {
    if (dynamic && specifier === "") continue; // rule `ambient` looks at computed imports
    if (specifier.startsWith("node:")) continue; // rule `ambient` looks at node's modules
    if (specifier.startsWith(".")) {
      const target = resolveSpecifier(file.path, specifier);
      if (target === undefined) say(line, `"${specifier}" leaves the repository`);
      else if (/\.tsx?$/.test(target)) say(line, mayImport(file.path, target));
    } else if (/^[a-z]+:|^\//.test(specifier)) {
      say(
        line,
        `"${specifier}" is not a package of deno.json: pin it there and add it to the import table`,
      );
    } else {
      const name = packageName(specifier);
      say(line, mayImportNpm(file.path, name));
      if (AS_A_WHOLE.has(name) && names.length > 0) {
        say(line, `"${name}" by name brings all of it into a bundle: import * as it`);
      }
    }
  }
  return findings;
}
