/** Since 2026-07-28 a server tells of changed lists only to who listens: the bridge does. @module */
import { isObject } from "../../../contracts/json.ts";
import type { Clock } from "./clock.ts";
import type { Connection } from "./connect.ts";
import type { Odd } from "./violations.ts";

/** What listening takes. */
export interface ListenParts {
  readonly clock: Pick<Clock, "after">;
  readonly odd: Odd;
}

/** Milliseconds until it listens again, and how often it does. */
const AGAIN_MS = 1_000;
const TIMES = 5;

/** Listens for the lists whose changes the server promised to tell. An old server tells them unasked. */
export function listenForChanges(
  { client, capabilities, modern }: Connection,
  { clock, odd }: ListenParts,
): void {
  if (!modern) return;
  const tells = (name: string): boolean => {
    const offered = capabilities[name];
    return isObject(offered) && offered["listChanged"] === true;
  };
  const filter = {
    ...(tells("tools") ? { toolsListChanged: true } : {}),
    ...(tells("prompts") ? { promptsListChanged: true } : {}),
    ...(tells("resources") ? { resourcesListChanged: true } : {}),
  };
  if (Object.keys(filter).length === 0) return;
  const listen = async (left: number): Promise<void> => {
    const { closed } = await client.listen(filter);
    const how = await closed;
    if (how === "remote" && left > 0) clock.after(AGAIN_MS, () => begin(left - 1));
  };
  const begin = (left: number): void => {
    listen(left).catch(() => odd("It does not tell of changed lists, although it promised to"));
  };
  begin(TIMES);
}
