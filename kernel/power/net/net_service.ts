/**
 * The net service of a kernel: one process for fetches, streams and proxies, started by the first
 * use. Made by kernel/main_tools.ts.
 * @module
 */
import * as z from "zod";
import { isObject } from "../../../contracts/base/json.ts";
import { Fault } from "../../../contracts/base/fault.ts";
import type { Json, Port, PortHandler } from "../../../contracts/base/mod.ts";
import type { NetAnswer } from "../../../contracts/wire/mod.ts";
import type { Child, Children } from "../../core/child/children.ts";

/** Receives the service's messages about one id. */
export type HearNet = (op: string, body: Json) => void;
/** Answers the service's requests about one id. */
export type AnswerNet = (op: string, body: Json) => Promise<Json>;

/** Access to the net service. */
export interface NetService {
  /** Rejects like {@link Children.net}. The next call restarts a service that has ended. */
  provide(): Promise<Child>;
  /**
   * A new id for a request, a stream or a proxy; ids are never reused. The service has one table of
   * each for all callers, so callers must not make ids of their own.
   */
  freshId(): string;
  /** Passes messages and requests about `id` on, until the returned function is called. */
  listen(id: string, hear: HearNet, answer?: AnswerNet): () => void;
}

/** Makes the access; starts no process. */
export function makeNetService(
  children: Pick<Children, "net">,
  origins?: NamedOrigins,
): NetService {
  let service: Promise<Child> | undefined;
  const listeners = new Map<string, { readonly hear: HearNet; readonly answer?: AnswerNet }>();
  const idOf = (body: Json): string => {
    const id = isObject(body) ? body["id"] : undefined;
    return typeof id === "string" ? id : "";
  };
  let ids = 0;
  const handler: PortHandler = Object.freeze<PortHandler>({
    ask(op: string, body: Json): Promise<Json> {
      const answer = listeners.get(idOf(body))?.answer;
      if (answer !== undefined) return answer(op, body);
      throw new Fault("unknownCapability", `Cannot serve "${op.slice(0, 64)}": not handed over`);
    },
    tell(op: string, body: Json): void {
      listeners.get(idOf(body))?.hear(op, body);
    },
  });

  return Object.freeze<NetService>({
    provide(): Promise<Child> {
      if (service !== undefined) return service;
      const started = children.net(handler).then((child) =>
        origins === undefined ? child : rememberingOrigins(child, origins)
      );
      service = started;
      const forget = (): void => {
        if (service === started) service = undefined;
      };
      started.then((child) => void child.port.closed.then(forget), forget);
      return started;
    },
    freshId: () => `n${++ids}`,
    listen(id, hear, answer): () => void {
      const listener = { hear, ...(answer === undefined ? {} : { answer }) };
      listeners.set(id, listener);
      return () => {
        if (listeners.get(id) === listener) listeners.delete(id);
      };
    },
  });
}

/** Wraps `child`: each request says where its named origins led before; each answer is recorded. */
function rememberingOrigins(child: Child, origins: NamedOrigins): Child {
  const { port } = child;
  return Object.freeze<Child>({
    ...{ role: child.role, osPid: child.osPid, exited: child.exited },
    ...{ kill: () => child.kill(), stderr: () => child.stderr(), end: () => child.end() },
    port: Object.freeze<Port>({
      async ask(op, body): Promise<Json> {
        if (op !== "fetch" && op !== "stream") return await port.ask(op, body);
        const answer = await port.ask(op, await origins.withPast(body));
        origins.record(body, answer);
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

/** Parses an answer of the net service. Throws `upstream` naming the invalid part. */
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

// Remembers whether each origin that the operator named first led to a public or a private address.
// A name that first led to the web, and now leads to this machine or its network, is used for an
// attack (DNS rebinding). docs/threat_model.md.

/** Maximum number of origins remembered; later ones are not added. */
const MAX_ORIGINS = 4_096;
const LINE = /^(public|private) (https?:\/\/[^\s]{1,300})$/;

type AddressKind = "public" | "private";

/** The named origins remembered in one state folder. */
interface NamedOrigins {
  /** Adds to a request where each origin that the operator named led before. */
  withPast(request: Json): Promise<Json>;
  /** Records the addresses from which an answer came. */
  record(request: Json, answer: Json): void;
}

interface NamedOriginsParts {
  /** The file's path; the file has one line for each origin. */
  readonly file: string;
  readonly disk: {
    read(path: string): Promise<Uint8Array | undefined>;
    write(path: string, bytes: Uint8Array): Promise<void>;
  };
  isPublic(address: string): boolean;
  note(line: string): void;
}

/** Makes the memory of named origins; its file is read at the first request. */
export function makeNamedOrigins({ file, disk, isPublic, note }: NamedOriginsParts): NamedOrigins {
  const past = new Map<string, AddressKind>();
  let reading: Promise<void> | undefined;
  let writing: Promise<void> = Promise.resolve();

  const read = async (): Promise<void> => {
    const text = new TextDecoder().decode(await disk.read(file) ?? new Uint8Array());
    for (const line of text.split("\n")) {
      const [, kind, origin] = LINE.exec(line) ?? [];
      if (origin !== undefined) past.set(origin, kind === "public" ? "public" : "private");
    }
  };
  const write = (): void => {
    const lines = [...past].map(([origin, kind]) => `${kind} ${origin}\n`).join("");
    writing = writing.then(() => disk.write(file, new TextEncoder().encode(lines))).catch(
      // The next kernel records an origin that was not stored again.
      (error: unknown) => note(`Where named origins lead was not kept: ${String(error)}`),
    );
  };

  return Object.freeze<NamedOrigins>({
    async withPast(request): Promise<Json> {
      const allow = namedIn(request);
      if (allow.length === 0 || !isObject(request)) return request;
      await (reading ??= read());
      return {
        ...request,
        allow: allow.map((each) =>
          each["named"] === true && past.get(String(each["origin"])) === "public"
            ? { ...each, was: "public" }
            : each
        ),
      };
    },
    record(request, answer): void {
      const named = new Set(
        namedIn(request).flatMap((each) => each["named"] === true ? [each["origin"]] : []),
      );
      for (const { url, address } of hopsIn(answer)) {
        const { origin } = new URL(url);
        if (!named.has(origin) || past.has(origin) || past.size >= MAX_ORIGINS) continue;
        past.set(origin, isPublic(address) ? "public" : "private");
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
