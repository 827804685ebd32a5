/** Terminal colours as functions, which change nothing where colour is off. @module */

/** Wraps safe text in a colour. */
export interface Paint {
  readonly dim: (text: string) => string;
  readonly bold: (text: string) => string;
  readonly red: (text: string) => string;
  readonly green: (text: string) => string;
  readonly yellow: (text: string) => string;
  readonly cyan: (text: string) => string;
}

/** Makes the colours; functions that change nothing when `colour` is false. */
export function makePaint(colour: boolean): Paint {
  const wrap = (on: number, off: number) => (text: string): string =>
    colour && text !== "" ? `\x1b[${on}m${text}\x1b[${off}m` : text;
  return Object.freeze({
    dim: wrap(2, 22),
    bold: wrap(1, 22),
    red: wrap(31, 39),
    green: wrap(32, 39),
    yellow: wrap(33, 39),
    cyan: wrap(36, 39),
  });
}
