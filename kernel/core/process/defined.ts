/** Objects without undefined members, for types that accept absent members only. @module */

type Absent<T> = { [K in keyof T]-?: undefined extends T[K] ? K : never }[keyof T];

/** A copy without the undefined members. */
export function defined<T extends object>(
  given: T,
): Omit<T, Absent<T>> & { [K in Absent<T>]?: Exclude<T[K], undefined> } {
  const members = Object.entries(given).filter(([, value]) => value !== undefined);
  return Object.fromEntries(members) as ReturnType<typeof defined<T>>;
}
