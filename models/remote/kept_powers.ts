/** Saves the global that the AI SDK needs, before the children's prelude hides it. @module */

/** No extra cost: every answer comes by fetch, which loads Headers anyway. */
export const keptHeaders: typeof Headers = globalThis.Headers;
