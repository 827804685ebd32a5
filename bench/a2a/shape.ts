/** What is asked and answered in rows about `remit serve`: the same on both sides. @module */

/** The answer to whatever asks for no pieces. */
export const ANSWER = "The tide is high at 06:12.";
/** One piece of a long answer, as a model streams it. */
export const PIECE = "The tide is at 06:12 now";
/** Pieces of a long answer. */
export const PIECES = 500;
/** A message that asks for a long answer. */
export const LONG = "long";

/** How many pieces a message asks for. */
export function pieces(text: string): number {
  return text.includes(LONG) ? PIECES : 0;
}

/** The scripted model: it answers at once. */
export const SCENARIO = `
scenario: tides
stream: { chunkChars: ${PIECE.length}, delayMs: 0, firstMs: 0 }
turns:
  - when: { user: ${LONG} }
    say: "${PIECE.repeat(PIECES)}"
  - when: { always: true }
    say: "${ANSWER}"
`;
