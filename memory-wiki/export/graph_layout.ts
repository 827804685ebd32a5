/** Places for the nodes of a graph, always the same for the same graph: no randomness, no clock. @module */

/** A node's place, within a square of side 2 around the origin before it is scaled. */
export interface Place {
  x: number;
  y: number;
}

const ROUNDS = 240;
const GOLDEN = Math.PI * (3 - Math.sqrt(5));

/**
 * Spreads `count` nodes so that linked ones are near and none are on one spot: forces after Fruchterman and Reingold
 * from a golden spiral. Time: rounds by the square of the nodes, so hand it a few hundred at most.
 */
export function layOut(
  count: number,
  edges: readonly (readonly [number, number])[],
  aspect = 1.5,
): readonly Place[] {
  const places: Place[] = Array.from({ length: count }, (_, at) => {
    const radius = Math.sqrt((at + 0.5) / Math.max(1, count));
    return { x: aspect * radius * Math.cos(at * GOLDEN), y: radius * Math.sin(at * GOLDEN) };
  });
  const ideal = 1.6 * Math.sqrt(aspect / Math.max(1, count));
  const push = places.map((): Place => ({ x: 0, y: 0 }));
  for (let round = 0; round < ROUNDS; round += 1) {
    const heat = 0.12 * (1 - round / ROUNDS);
    for (const force of push) force.x = force.y = 0;
    for (let a = 0; a < count; a += 1) {
      for (let b = a + 1; b < count; b += 1) apply(a, b, (distance) => ideal * ideal / distance);
    }
    for (const [a, b] of edges) apply(a, b, (distance) => -distance * distance / ideal);
    for (const [at, place] of places.entries()) {
      const force = push[at];
      if (force === undefined) continue;
      // A weak pull to the middle keeps what is not linked from drifting off.
      force.x -= 0.35 * place.x / aspect;
      force.y -= 0.35 * place.y;
      const size = Math.hypot(force.x, force.y) || 1;
      const step = Math.min(size, heat) / size;
      place.x += force.x * step;
      place.y += force.y * step;
    }
  }
  return places;

  function apply(a: number, b: number, strength: (distance: number) => number): void {
    const [one, other, of, to] = [places[a], places[b], push[a], push[b]];
    if (one === undefined || other === undefined || of === undefined || to === undefined) return;
    let [dx, dy] = [one.x - other.x, one.y - other.y];
    if (dx === 0 && dy === 0) [dx, dy] = [1e-3 * (a - b), 1e-3];
    const distance = Math.max(1e-3, Math.hypot(dx, dy));
    const force = strength(distance);
    of.x += dx / distance * force;
    of.y += dy / distance * force;
    to.x -= dx / distance * force;
    to.y -= dy / distance * force;
  }
}
