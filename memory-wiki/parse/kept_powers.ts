/** Evaluated before the prelude: what it would take away. @module */

/** How Blob stands on the global object, not read. */
export const kept: PropertyDescriptor | undefined = Object.getOwnPropertyDescriptor(
  globalThis,
  "Blob",
);
