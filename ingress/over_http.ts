/** Serves hosts at an address: the routes over the protocol over the starter. Issue 6, Export. @module */
import { Fault } from "../contracts/fault.ts";
import type { ServeOpen } from "../contracts/wire_serve.ts";
import { makeApp } from "./app.ts";
import type { After } from "./body.ts";
import type { Listening } from "./gateway.ts";
import { makeDoor } from "./let_in.ts";
import { makeRates } from "./rates.ts";
import type { Starter } from "./sessions.ts";

/** The protocol, whoever speaks it. */
export interface Protocol {
  fetch(
    request: Request,
    body: unknown,
    caller: { readonly holder: string; readonly token: string },
  ): Promise<Response>;
  close(): Promise<void>;
}

/** What serving takes. */
export interface OverHttpParts {
  readonly starter: Starter;
  readonly open: ServeOpen;
  makeProtocol(most: { readonly sessions: number; readonly perHolder: number }): Protocol;
  listen(
    at: { readonly hostname: string; readonly port: number },
    serve: (request: Request, address: string) => Response | Promise<Response>,
  ): { readonly port: number; shutdown(): Promise<void> };
  now(): number;
  readonly after: After;
}

const BOUNDS = { sessions: 64, perToken: 1_200, perAddress: 2_400, bodyMs: 15_000 };
/** Sessions of one token, of all that there may be. */
const SHARE = 4;
/** Wrong tokens a minute from one address. */
const WRONG = 20;
/** Milliseconds that what is under way may take when the gateway ends. */
const STOP_MS = 5_000;
/** Milliseconds for connections to close after that. */
const LINGER_MS = 250;

/** Listens and serves. */
export function serveOverHttp(parts: OverHttpParts): Listening {
  const { starter, open, now, after } = parts;
  const { listen: at } = open;
  if (at === undefined) throw new Fault("invalidInput", "Cannot serve: no address was given");
  const bounds = open.bounds ?? BOUNDS;
  const protocol = parts.makeProtocol({
    sessions: bounds.sessions,
    perHolder: Math.max(1, Math.ceil(bounds.sessions / SHARE)),
  });
  let under = 0;
  let idle = (): void => undefined;
  const routes: { app?: ReturnType<typeof makeApp> } = {};
  const listener = parts.listen(at, async (request, address) => {
    const { app } = routes;
    if (app === undefined) return new Response(null, { status: 503 });
    // A stream of a GET is never over by itself: nobody waits for it.
    if (request.method !== "POST") return await app.fetch(request, { address });
    under += 1;
    const over = (): void => {
      under -= 1;
      if (under === 0) idle();
    };
    try {
      return untilRead(await app.fetch(request, { address }), over);
    } catch (error) {
      over();
      throw error;
    }
  });
  const name = at.hostname.includes(":") ? `[${at.hostname}]` : at.hostname;
  const address = `${name}:${listener.port}`;
  routes.app = makeApp({
    door: makeDoor(address, open),
    rates: {
      address: makeRates(bounds.perAddress, now),
      token: makeRates(bounds.perToken, now),
      wrong: makeRates(WRONG, now),
    },
    admit: starter.admit,
    mcp: (request, body, caller) => protocol.fetch(request, body, caller),
    ...{ bodyMs: bounds.bodyMs, after, note: starter.note },
  });
  return Object.freeze<Listening>({
    address,
    async stop(): Promise<void> {
      const over = listener.shutdown();
      const late = Promise.withResolvers<void>();
      idle = () => late.resolve();
      const stop = after(STOP_MS, () => late.resolve());
      if (under === 0) late.resolve();
      await late.promise;
      stop();
      await protocol.close();
      // Streams that nobody closes end with the process.
      const gone = Promise.withResolvers<void>();
      const give = after(LINGER_MS, gone.resolve);
      await Promise.race([over, gone.promise]);
      give();
    },
  });
}

/** The same response; `over` is called once, when its body was read to its end or nobody reads it any more. */
function untilRead(response: Response, over: () => void): Response {
  const { body, status, statusText, headers } = response;
  if (body === null) {
    over();
    return response;
  }
  const reader = body.getReader();
  let told = false;
  const tell = (): void => {
    if (!told) over();
    told = true;
  };
  const whole = new ReadableStream<Uint8Array>({
    async pull(controller): Promise<void> {
      try {
        const { done, value } = await reader.read();
        if (!done) return controller.enqueue(value);
        tell();
        controller.close();
      } catch (error) {
        tell();
        controller.error(error);
      }
    },
    async cancel(why): Promise<void> {
      tell();
      await reader.cancel(why);
    },
  });
  return new Response(whole, { status, statusText, headers });
}
