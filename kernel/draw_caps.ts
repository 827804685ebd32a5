/** The handles of a worker. DESIGN section 2. @module */
import type { CapList, Powers } from "../contracts/mod.ts";

/** Draws a process's handles: three different numbers that a worker cannot guess. */
export function drawCaps(powers: Pick<Powers, "token">): CapList {
  const draw = (): number => Number.parseInt(powers.token().slice(0, 5), 16) % 1_000_000;
  const drawn = new Set<number>();
  while (drawn.size < 3) drawn.add(draw());
  const [model = 0, tools = 0, children = 0] = drawn;
  return { model, tools, children };
}
