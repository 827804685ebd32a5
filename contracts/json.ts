/** JSON values as they cross a port. @module */

/** Any JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

/** A JSON object; keys are data, never merged into another object. */
export interface JsonObject {
  readonly [key: string]: Json;
}
