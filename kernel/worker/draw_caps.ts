/** The handles of a worker. @module */
import type { CapList, Powers } from "../../contracts/mod.ts";

/** Draws a process's handles: three different numbers that a worker cannot guess. */
export function drawCaps(powers: Pick<Powers, "token">): CapList {
  const drawn = new Set<number>();
  while (drawn.size < 3) drawn.add(draw(powers));
  const [model = 0, tools = 0, children = 0] = drawn;
  return { model, tools, children };
}

/** The same handles with another one for the model: what the old one named is taken back. */
export function redrawModel(powers: Pick<Powers, "token">, held: CapList): CapList {
  for (;;) {
    const model = draw(powers);
    if (!Object.values(held).includes(model)) return { ...held, model };
  }
}

function draw(powers: Pick<Powers, "token">): number {
  return Number.parseInt(powers.token().slice(0, 5), 16) % 1_000_000;
}
