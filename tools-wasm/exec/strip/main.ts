/** Takes the types out of TypeScript, inside the engine: compiled into it, evaluated where a program needs it. @module */
import { transform } from "sucrase";

/** The JavaScript of a TypeScript text, line by line where it was. Types are not checked. Throws what is wrong. */
function stripTypes(code: string): string {
  return transform(code, { transforms: ["typescript"], disableESTransforms: true }).code;
}

Object.assign(globalThis, { __made: stripTypes });
