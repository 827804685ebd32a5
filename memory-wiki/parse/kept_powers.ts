/** Saves the global that the prelude removes and the mail library needs. @module */

/** The descriptor of Blob; reading the value would load it. */
export const kept: PropertyDescriptor | undefined = Object.getOwnPropertyDescriptor(
  globalThis,
  "Blob",
);
