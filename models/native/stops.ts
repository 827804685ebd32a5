/** Text that ends where one of some texts comes, which is never shown, nor its beginning. @module */

/** Takes text piece by piece. */
export interface Stops {
  /** What may be shown now; `stopped` where a stop text came: nothing is taken after it. */
  take(piece: string): { readonly text: string; readonly stopped: boolean };
  /** What was held back for the beginning of a stop text that did not come. */
  rest(): string;
}

/** Makes a watch for these texts. */
export function makeStops(stops: readonly string[]): Stops {
  const texts = stops.filter((each) => each !== "");
  let held = "";
  return Object.freeze({
    take(piece: string): { text: string; stopped: boolean } {
      held += piece;
      const found = texts.map((each) => held.indexOf(each)).filter((at) => at >= 0);
      if (found.length > 0) {
        const text = held.slice(0, Math.min(...found));
        held = "";
        return { text, stopped: true };
      }
      const back = Math.max(0, ...texts.map((each) => overlap(held, each)));
      const text = held.slice(0, held.length - back);
      held = held.slice(held.length - back);
      return { text, stopped: false };
    },
    rest: () => held,
  });
}

/** Units at the end of `text` that `stop` begins with. */
function overlap(text: string, stop: string): number {
  let length = Math.min(text.length, stop.length - 1);
  while (length > 0 && !text.endsWith(stop.slice(0, length))) length--;
  return length;
}
