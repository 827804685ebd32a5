/**
 * The language of planned programs, as the kernel reads it: parses a text, and analyses what the program can do. The
 * interpreter is `planned/run/mod.ts`, which holds no parser. docs/planned_programs.md.
 *
 * @example
 * ```ts
 * import { analyse, parseProgram } from "./mod.ts";
 * const [site] = analyse(parseProgram('tools.mail_send({ to: "bob@x.example" })'));
 * if (site?.tool !== "mail_send" || site.times !== 1) throw new Error("one call, once");
 * ```
 * @module
 */
export { analyse, type SiteFacts } from "./analyse.ts";
export { parseProgram } from "./parse.ts";
