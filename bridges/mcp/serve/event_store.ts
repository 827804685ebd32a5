/** What a session's streams sent last, so that a host that lost its connection can go on. Bounded. @module */
import type { EventStore, JSONRPCMessage } from "@modelcontextprotocol/server";

const MOST_EVENTS = 512;
/** UTF-16 units of all events together. */
const MOST_TEXT = 8 * 1_048_576;

interface Kept {
  readonly id: string;
  readonly stream: string;
  readonly message: JSONRPCMessage;
  readonly size: number;
}

/** Makes an empty one. Older events give way to newer ones; a host that asks for one that is gone gets none. */
export function makeEventStore(): EventStore {
  const events: Kept[] = [];
  let count = 0;
  let text = 0;
  return Object.freeze<EventStore>({
    storeEvent(stream, message): Promise<string> {
      const id = `${stream}_${++count}`;
      const size = JSON.stringify(message).length;
      events.push({ id, stream, message, size });
      text += size;
      while (events.length > MOST_EVENTS || (text > MOST_TEXT && events.length > 1)) {
        text -= events.shift()?.size ?? 0;
      }
      return Promise.resolve(id);
    },
    getStreamIdForEventId: (id) => Promise.resolve(events.find((each) => each.id === id)?.stream),
    async replayEventsAfter(last, { send }): Promise<string> {
      const at = events.findIndex(({ id }) => id === last);
      const stream = events[at]?.stream;
      if (stream === undefined) return "";
      for (const each of events.slice(at + 1)) {
        if (each.stream === stream) await send(each.id, each.message);
      }
      return stream;
    },
  });
}
