/** The net service of a kernel: one process for fetches, streams and proxies, started with the first. @module */
import * as z from "zod";
import { isObject } from "../../../contracts/base/json.ts";
import { Fault } from "../../../contracts/base/fault.ts";
import type { Json, Port, PortHandler } from "../../../contracts/base/mod.ts";
import type { NetAnswer } from "../../../contracts/wire/mod.ts";
import type { Child, Children } from "../../core/child/children.ts";

/** Hears what the service tells of one id. */
export type HearNet = (op: string, body: Json) => void;
/** Answers what the service asks for one id. */
export type AnswerNet = (op: string, body: Json) => Promise<Json>;

/** The way to the net service. */
export interface NetService {
  /** Rejects as {@link Children.net} does. One that ended is started anew by the next call. */
  provide(): Promise<Child>;
  /**
   * A new id for a request, a stream or a proxy: never one that was given before. The service keeps one table of each for
   * everybody who asks, so nobody counts ids of their own.
   */
  freshId(): string;
  /** Hears what is told of `id`, and answers what is asked; the returned function ends that. */
  listen(id: string, hear: HearNet, answer?: AnswerNet): () => void;
}

/** Makes the way; nothing is started. */
export function makeNetService(
  children: Pick<Children, "net">,
  origins?: NamedOrigins,
): NetService {
  let service: Promise<Child> | undefined;
  const hearing = new Map<string, { readonly hear: HearNet; readonly answer?: AnswerNet }>();
  const idOf = (body: Json): string => {
    const id = isObject(body) ? body["id"] : undefined;
    return typeof id === "string" ? id : "";
  };
  let ids = 0;
  const handler: PortHandler = Object.freeze<PortHandler>({
    ask(op: string, body: Json): Promise<Json> {
      const answer = hearing.get(idOf(body))?.answer;
      if (answer !== undefined) return answer(op, body);
      throw new Fault("unknownCapability", `Cannot serve "${op.slice(0, 64)}": not handed over`);
    },
    tell(op: string, body: Json): void {
      hearing.get(idOf(body))?.hear(op, body);
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
    listen(id, hear, answer): () => void {
      const ears = { hear, ...(answer === undefined ? {} : { answer }) };
      hearing.set(id, ears);
      return () => {
        if (hearing.get(id) === ears) hearing.delete(id);
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

const Text = z.string().max(4_096);
const Answer = z.object({
  status: z.int().min(100).max(599),
  url: Text,
  headers: z.record(z.string().max(256), z.string().max(16_384)),
  setCookies: z.array(z.string().max(65_536)).max(64).optional(),
  next: z.object({
    method: z.enum(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]),
    url: Text,
    body: z.boolean(),
  }).strict().optional(),
  body: z.string(),
  bytes: z.int().min(0),
  cut: z.boolean(),
  stopped: z.object({ location: z.string().max(16_384), why: Text }).strict().optional(),
  hops: z.array(
    z.object({
      method: z.string().max(16),
      url: Text,
      address: z.string().max(64),
      status: z.int().min(0).max(599),
      ms: z.number().min(0),
    }).strict(),
  ).max(32),
}).strict();

/** Parses; throws `upstream` naming the part that does not fit. */
export function parseNetAnswer(raw: Json): NetAnswer {
  const { success, data, error } = Answer.safeParse(raw);
  if (!success) {
    const where = error.issues[0]?.path.join(".") ?? "";
    throw new Fault(
      "upstream",
      `Cannot use the answer of the net service: "${where}" does not parse`,
    );
  }
  // zod keeps absent properties absent; its types cannot say so.
  return data as NetAnswer;
}

// What the names of the operator's origins led to when they were first asked: a name of a stranger that led to the web
// then, and leads to this machine or its network now, was turned against it (DNS rebinding). docs/threat_model.md.

/** Origins that are remembered; of more the first ones are. */
const MAX = 4_096;
const LINE = /^(public|private) (https?:\/\/[^\s]{1,300})$/;

type Led = "public" | "private";

/** The memory of one state. */
interface NamedOrigins {
  /** A request to the net service, with what is known of each origin in it that the operator named. */
  known(request: Json): Promise<Json>;
  /** Takes in where an answer came from. */
  saw(request: Json, answer: Json): void;
}

interface NamedOriginsParts {
  /** A line for each origin. */
  readonly file: string;
  readonly disk: {
    read(path: string): Promise<Uint8Array | undefined>;
    write(path: string, bytes: Uint8Array): Promise<void>;
  };
  isPublic(address: string): boolean;
  note(line: string): void;
}

/** Opens the memory; it is read when it is first asked. */
export function makeNamedOrigins({ file, disk, isPublic, note }: NamedOriginsParts): NamedOrigins {
  const led = new Map<string, Led>();
  let reading: Promise<void> | undefined;
  let writing: Promise<void> = Promise.resolve();

  const read = async (): Promise<void> => {
    const text = new TextDecoder().decode(await disk.read(file) ?? new Uint8Array());
    for (const line of text.split("\n")) {
      const [, how, origin] = LINE.exec(line) ?? [];
      if (origin !== undefined) led.set(origin, how === "public" ? "public" : "private");
    }
  };
  const write = (): void => {
    const lines = [...led].map(([origin, how]) => `${how} ${origin}\n`).join("");
    writing = writing.then(() => disk.write(file, new TextEncoder().encode(lines))).catch(
      // What is not kept is learnt anew by the next kernel.
      (error: unknown) => note(`Where named origins lead was not kept: ${String(error)}`),
    );
  };

  return Object.freeze<NamedOrigins>({
    async known(request): Promise<Json> {
      const allow = namedIn(request);
      if (allow.length === 0 || !isObject(request)) return request;
      await (reading ??= read());
      return {
        ...request,
        allow: allow.map((each) =>
          each["named"] === true && led.get(String(each["origin"])) === "public"
            ? { ...each, was: "public" }
            : each
        ),
      };
    },
    saw(request, answer): void {
      const named = new Set(
        namedIn(request).flatMap((each) => each["named"] === true ? [each["origin"]] : []),
      );
      for (const { url, address } of hopsIn(answer)) {
        const { origin } = new URL(url);
        if (!named.has(origin) || led.has(origin) || led.size >= MAX) continue;
        led.set(origin, isPublic(address) ? "public" : "private");
        write();
      }
    },
  });
}

function namedIn(request: Json): readonly Readonly<Record<string, Json>>[] {
  const allow = isObject(request) ? request["allow"] : undefined;
  return Array.isArray(allow) ? allow.filter(isObject) : [];
}

/** TRUST: from the net service, which reads hostile bytes: anything else is none. */
function hopsIn(answer: Json): readonly { readonly url: string; readonly address: string }[] {
  if (!isObject(answer)) return [];
  const { hop, hops } = answer;
  const all = Array.isArray(hops) ? hops : [hop ?? null];
  return all.filter(isObject).flatMap(({ url, address }) =>
    typeof url === "string" && URL.canParse(url) && typeof address === "string"
      ? [{ url, address }]
      : []
  );
}
