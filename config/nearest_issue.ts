/** Picks the most helpful message for a value that may have one of several shapes: of the shape it comes nearest to. @module */
import type * as z from "zod";

type Issue = z.core.$ZodIssue;

/** How near the value is to a shape with these issues: their depth, less where a key is missing altogether. */
function nearnessOf(issues: readonly Issue[]): number {
  return Math.max(...issues.map((issue) => {
    const { path, message } = nearestIssue(issue);
    return path.length - (message.endsWith("received undefined") ? MISSING : 0);
  }));
}
const MISSING = 0.5;

/**
 * The issue itself; for a union of shapes, the first issue of the nearest shape with its path from the root. Where no
 * shape is nearest, a message that lists what each shape wants.
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

/** Whether the value has the first shape except for unknown keys, and not even the type of the second. */
function isShape(first: readonly Issue[], second: readonly Issue[]): boolean {
  return first.every(({ code }) => code === "unrecognized_keys") &&
    second.some(({ code }) => code === "invalid_type");
}
