/** The power to evaluate source text as a program. Used by worker.ts. @module */

/**
 * Evaluates source text and returns its value. The eval is indirect: the source sees globals and
 * none of our local names. It runs with this process's permissions, of which a worker has none.
 */
export function evaluateSource(source: string): unknown {
  return (0, eval)(source);
}
