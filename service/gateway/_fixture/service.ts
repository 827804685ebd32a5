/** A gateway's routes over a hand-made starter, without a socket and without a kernel. @module */
import { Fault } from "../../../contracts/base/fault.ts";
import { PeerName } from "../../../contracts/exchange/exchange.ts";
import type {
  HookCall,
  PageAnswer,
  PageAsk,
  PageView,
  PeerHolder,
} from "../../../contracts/wire/wire_a2a.ts";
import { serveOverHttp } from "../over_http.ts";
import { servePage } from "../page/routes.ts";
import type { ServiceAsks, Starter } from "../starter.ts";
import type { Listening } from "../gateway.ts";

/** The gateway's address, as in a `Host` header. */
export const HOST = "127.0.0.1:7433";
/** The origin of its own pages. */
export const ORIGIN = `http://${HOST}`;
/** 256 bits, in the form of the starter's ids. */
export const SESSION = "S".repeat(43);
/** The digest of {@link question}. */
export const SHOWN = "ab".repeat(32);

/** A test's changes to the starter. */
export interface ServiceWish {
  readonly asks?: Partial<ServiceAsks>;
  readonly https?: boolean;
  readonly origins?: readonly string[];
  readonly hosts?: readonly string[];
  readonly view?: () => PageView;
  readonly address?: string;
  readonly peers?: (request: Request) => Response;
}

/** A gateway with all its routes. */
export interface Service {
  /** Sends a request as a program on this machine would, with the default `host` unless the test gives another. */
  ask(
    path: string,
    init?: Omit<RequestInit, "headers"> & { readonly headers?: Readonly<Record<string, string>> },
  ): Promise<Response>;
  /** Requests to the starter. */
  readonly hooks: HookCall[];
  readonly views: PageAsk[];
  readonly answers: PageAnswer[];
  readonly closed: string[];
  readonly peers: {
    readonly body: string | undefined;
    readonly token: string | null;
    peer?: string;
  }[];
  readonly listening: Listening;
  /** Moves the clock, milliseconds. */
  turn(ms: number): void;
}

const denied = (): Fault => new Fault("denied", "Cannot let it in");

/** A page with one question. */
export function question(more: Partial<PageView> = {}): PageView {
  return {
    title: "Question",
    sections: [{ heading: "what is asked", rows: [], lines: ["┃ file_write"] }],
    answer: { question: "q000000000001" as never, shown: SHOWN as never },
    ...more,
  };
}

/** Makes a gateway whose clock stands at 0 ms. */
export function makeService(wish: ServiceWish = {}): Service {
  let now = 0;
  let serve: ((request: Request, address: string) => Response | Promise<Response>) | undefined;
  const seen = {
    hooks: [] as HookCall[],
    views: [] as PageAsk[],
    answers: [] as PageAnswer[],
    closed: [] as string[],
    peers: [] as Service["peers"][number][],
  };
  const here = (session: string): void => {
    if (session !== SESSION) throw denied();
  };
  const asks: ServiceAsks = {
    async a2aAdmit(token): Promise<PeerHolder> {
      await Promise.resolve();
      if (token !== "alice") throw denied();
      return { peer: PeerName.parse("alice"), perMinute: 3, progress: false, push: false };
    },
    hook: (call) => Promise.resolve((seen.hooks.push(call), { result: "taken" })),
    async pageOpen(code) {
      await Promise.resolve();
      if (code !== "right") throw denied();
      return { session: SESSION, expiresAt: 1_800_000_000_000 };
    },
    async pageView(asked) {
      await Promise.resolve();
      here(asked.session);
      seen.views.push(asked);
      return (wish.view ?? question)();
    },
    async pageAnswer(said) {
      await Promise.resolve();
      here(said.session);
      seen.answers.push(said);
    },
    pageClose: (session) => Promise.resolve(void seen.closed.push(session)),
    ready: () => Promise.resolve({ ready: true, why: "" }),
    metrics: () => Promise.resolve("# EOF\n"),
    jwks: () => Promise.resolve('{"keys":[]}'),
    fleet: () => Promise.reject(denied()),
    ...wish.asks,
  };
  const starter: Starter = {
    admit: (token) =>
      token === "bob"
        ? Promise.resolve({ holder: "bob", profile: "guest" })
        : Promise.reject(denied()),
    open: () => Promise.reject(denied()),
    note: () => undefined,
    heard: () => undefined,
  };
  const listening = serveOverHttp({
    starter,
    open: {
      transport: "http",
      listen: { hostname: "127.0.0.1", port: 0 },
      hosts: [...wish.hosts ?? []],
      origins: [...wish.origins ?? []],
      version: "0.0.0",
      serves: { mcp: true, a2a: true, hooks: true, page: true, metrics: true, fleet: true },
      ...(wish.https === undefined ? {} : { https: wish.https }),
    },
    makeProtocol: () => ({
      fetch: () => Promise.resolve(new Response("mcp")),
      close: () => Promise.resolve(),
    }),
    service: {
      asks,
      makePeers: () => ({
        fetch(request, body, { token, holder }): Promise<Response> {
          seen.peers.push({
            body: body === undefined ? undefined : new TextDecoder().decode(body),
            token,
            ...(holder === undefined ? {} : { peer: holder.peer }),
          });
          return Promise.resolve(
            wish.peers?.(request) ??
              new Response(null, { status: holder === undefined ? 401 : 200 }),
          );
        },
        heard: () => undefined,
        close: () => Promise.resolve(),
      }),
      page: (app, door) =>
        servePage(app, {
          ...{ ...door, asks, styleDigest: "digest" },
          seal: (text) => Promise.resolve(`sealed-${text.length}-${text.slice(-4)}`),
        }),
    },
    listen(_at, given) {
      serve = given;
      return { port: 7_433, shutdown: () => Promise.resolve() };
    },
    now: () => now,
    after: () => () => undefined,
  });
  return {
    ...{ ...seen, listening },
    turn: (ms) => void (now += ms),
    async ask(path, init = {}) {
      if (serve === undefined) throw new Error("nobody listens");
      const request = new Request(`${ORIGIN}${path}`, {
        redirect: "manual",
        ...init,
        headers: { host: HOST, ...init.headers },
      });
      return await serve(request, wish.address ?? "127.0.0.1");
    },
  };
}
