/** Times of a cron expression, in a time zone. Pure: no timer of the library is used. @module */
import { Cron } from "croner";
import { Fault, type ScheduleConfig } from "../../../contracts/mod.ts";

/** Times at which a schedule fires, milliseconds since 1970. */
export interface CronTimes {
  /** The first after `after`; undefined when there is none any more. */
  next(after: number): number | undefined;
  /** The newest `most` of those after `from` up to and with `to`, ascending. */
  between(from: number, to: number, most: number): readonly number[];
}

/**
 * Reads a schedule's times: five fields, or six with seconds first. Where clocks are put forward, a time that is not
 * there fires when the hour has passed; where they are put back, a time of day that comes twice fires once.
 *
 * @throws Fault `invalidInput`
 */
export function readCron(
  { cron, timezone = "UTC" }: Pick<ScheduleConfig, "cron" | "timezone">,
  where: string,
): CronTimes {
  let times: Cron;
  try {
    times = new Cron(cron, { timezone, mode: "5-or-6-parts" });
    times.nextRun(new Date(0));
  } catch (cause) {
    const said = cause instanceof Error ? cause.message : String(cause);
    const why = said.startsWith("CronDate:")
      ? `there is no time zone "${timezone}"; write one such as Europe/Paris`
      : `"${cron}" is no time: ${said.replace(/^CronPattern: /, "").slice(0, 200)}`;
    throw new Fault("invalidInput", `Cannot use ${where}: ${why}`, { cause });
  }
  return Object.freeze<CronTimes>({
    next: (after) => times.nextRun(new Date(after))?.getTime(),
    between: (from, to, most) =>
      // Counted from the end: years of missed firings cost no more than the newest ones.
      times.previousRuns(most, new Date(to + 1)).map((each) => each.getTime())
        .filter((each) => each > from && each <= to).reverse(),
  });
}
