/** The net service of a kernel: one process for fetches, streams and proxies, started with the first. @module */
import { isObject } from "../../contracts/json.ts";
import { Fault, type Json, type Port, type PortHandler } from "../../contracts/mod.ts";
import type { Child, Children } from "../child/children.ts";
import type { NamedOrigins } from "./named_origins.ts";

/** Hears what the service tells of one id. */
export type HearNet = (op: string, body: Json) => void;

/** The way to the net service. */
export interface NetService {
  /** Rejects as {@link Children.net} does. One that ended is started anew by the next call. */
  provide(): Promise<Child>;
  /**
   * A new id for a request, a stream or a proxy: never one that was given before. The service keeps one table of each for
   * everybody who asks, so nobody counts ids of their own.
   */
  freshId(): string;
  /** Hears what is told of `id`; the returned function ends that. */
  listen(id: string, hear: HearNet): () => void;
}

/** Makes the way; nothing is started. */
export function makeNetService(
  children: Pick<Children, "net">,
  origins?: NamedOrigins,
): NetService {
  let service: Promise<Child> | undefined;
  const hearing = new Map<string, HearNet>();
  let ids = 0;
  const handler: PortHandler = Object.freeze<PortHandler>({
    ask(op: string): never {
      throw new Fault("unknownCapability", `Cannot serve "${op.slice(0, 64)}": not handed over`);
    },
    tell(op: string, body: Json): void {
      const id = isObject(body) ? body["id"] : undefined;
      if (typeof id === "string") hearing.get(id)?.(op, body);
    },
  });

  return Object.freeze<NetService>({
    provide(): Promise<Child> {
      if (service !== undefined) return service;
      const made = children.net(handler).then((child) =>
        origins === undefined ? child : remembering(child, origins)
      );
      service = made;
      const forget = (): void => {
        if (service === made) service = undefined;
      };
      made.then((child) => void child.port.closed.then(forget), forget);
      return made;
    },
    freshId: () => `n${++ids}`,
    listen(id, hear): () => void {
      hearing.set(id, hear);
      return () => {
        if (hearing.get(id) === hear) hearing.delete(id);
      };
    },
  });
}

/** The same child, whose requests to origins of the operator's are held against where these led before. */
function remembering(child: Child, origins: NamedOrigins): Child {
  const { port } = child;
  return Object.freeze<Child>({
    ...{ role: child.role, osPid: child.osPid, exited: child.exited },
    ...{ kill: () => child.kill(), stderr: () => child.stderr(), end: () => child.end() },
    port: Object.freeze<Port>({
      async ask(op, body): Promise<Json> {
        if (op !== "fetch" && op !== "stream") return await port.ask(op, body);
        const answer = await port.ask(op, await origins.known(body));
        origins.saw(body, answer);
        return answer;
      },
      tell: (op, body) => port.tell(op, body),
      close: (why) => port.close(why),
      closed: port.closed,
      feed: (chunk) => port.feed(chunk),
    }),
  });
}
