/**
 * Strips types from TypeScript inside the engine: compiled in, evaluated only when a program needs
 * it. @module
 */
import { transform } from "sucrase";

/** TypeScript as JavaScript, with the same lines, types unchecked. Throws syntax errors. */
function stripTypes(code: string): string {
  return transform(code, { transforms: ["typescript"], disableESTransforms: true }).code;
}

Object.assign(globalThis, { __made: stripTypes });
