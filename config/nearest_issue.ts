/** What is wrong with a value that may have one of several shapes: said of the shape that it comes nearest to. @module */
import type * as z from "zod";

type Issue = z.core.$ZodIssue;

/** How near a shape is that has these issues: by their depth, less where a key of it is not there at all. */
function nearnessOf(issues: readonly Issue[]): number {
  return Math.max(...issues.map((issue) => {
    const { path, message } = nearestIssue(issue);
    return path.length - (message.endsWith("received undefined") ? MISSING : 0);
  }));
}
const MISSING = 0.5;

/**
 * The issue itself; of several shapes the first one of the nearest, its path from the root. Where none
 * comes nearer than another, what each of them wants.
 */
export function nearestIssue(issue: Issue): Issue {
  if (issue.code !== "invalid_union") return issue;
  const shapes = issue.errors.filter((errors) => errors.length > 0);
  const [nearest, second] = [...shapes].sort((a, b) => nearnessOf(b) - nearnessOf(a));
  const isKnown = nearest !== undefined &&
    (second === undefined || nearnessOf(nearest) > nearnessOf(second) || isShape(nearest, second));
  if (isKnown) {
    const [first] = nearest.map(nearestIssue);
    if (first !== undefined) return { ...first, path: [...issue.path, ...first.path] } as Issue;
  }
  const wants = shapes.flatMap(([each]) => each === undefined ? [] : [nearestIssue(each).message]);
  return { ...issue, message: [...new Set(wants)].join("; or: ") };
}

/** Whether the value has the first's shape but for a key, and not even the second's type. */
function isShape(first: readonly Issue[], second: readonly Issue[]): boolean {
  return first.every(({ code }) => code === "unrecognized_keys") &&
    second.some(({ code }) => code === "invalid_type");
}
