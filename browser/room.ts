/** A room for so many at once; more wait at the door, in order. @module */

/** The room. */
export interface Room {
  /** Resolves when there is a place, with what gives it up again. */
  enter(): Promise<() => void>;
}

/** Makes a room with `places`. */
export function makeRoom(places: number): Room {
  let free = places;
  const door: (() => void)[] = [];
  const leave = (): void => {
    const next = door.shift();
    if (next === undefined) free += 1;
    else next();
  };
  return Object.freeze({
    async enter(): Promise<() => void> {
      if (free > 0) free -= 1;
      else await new Promise<void>((resolve) => door.push(resolve));
      return leave;
    },
  });
}
