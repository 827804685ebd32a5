/** Running source text: the power to turn words into a program. @module */

/**
 * Evaluates source and gives its value. Indirect: the source sees globals and not our names; it runs
 * with all that this process may do, which for a worker is nothing.
 */
export function evaluateSource(source: string): unknown {
  return (0, eval)(source);
}
