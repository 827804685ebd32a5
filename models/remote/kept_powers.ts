/** What the AI SDK needs of the globals that the children's prelude hides. @module */

/** Taken before the prelude hides it. The fetch that every answer comes by loads its layer anyway. */
export const keptHeaders: typeof Headers = globalThis.Headers;
