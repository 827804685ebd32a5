/**
 * The powers of a login: a net service process, a loopback listener, randomness, a timer. Wired in
 * cli/main.ts.
 * @module
 */
import { Fault, type Json } from "../../../../contracts/base/mod.ts";
import { WIDE_FRAME_BYTES } from "../../../../contracts/wire/wire_plugin.ts";
import { makePort } from "../../../../port/mod.ts";
import type { LoginPowers, LoginService, Loopback } from "./login.ts";

/** A program with its arguments and its whole environment. */
interface LoginLine {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Milliseconds for the browser to receive its last page. */
const CLOSE_MS = 1_000;
const HEADERS = {
  "content-type": "text/plain;charset=utf-8",
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  connection: "close",
};

/** Makes the powers of a login; `line` is the command of a net service, as the kernel starts it. */
export function makeLoginPowers(line: () => Promise<LoginLine>): LoginPowers {
  return Object.freeze<LoginPowers>({
    start: async () => start(await line()),
    listen,
    random: () =>
      crypto.getRandomValues(new Uint8Array(32)).toBase64({
        alphabet: "base64url",
        omitPadding: true,
      }),
    after(ms, run) {
      const timer = setTimeout(run, ms);
      return () => clearTimeout(timer);
    },
  });
}

function start({ program, args, env }: LoginLine): LoginService {
  const child = new Deno.Command(program, {
    args: [...args],
    clearEnv: true,
    env: { ...env },
    cwd: "/",
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const input = child.stdin.getWriter();
  const port = makePort({
    limits: { frameBytes: WIDE_FRAME_BYTES },
    // The end of the process shows at the end of its output.
    write: (bytes) => void input.write(bytes.slice()).catch(() => undefined),
    handler: {
      ask: () => Promise.reject(new Fault("refused", "Cannot serve: a net service asks nothing")),
      tell: () => undefined,
    },
  });
  const pumped = (async (): Promise<void> => {
    for await (const chunk of child.stdout) port.feed(chunk);
    port.close("the net service has ended");
  })();
  return Object.freeze<LoginService>({
    link: {
      ask: (op: string, body: Json) => port.ask(op, body),
      tell: (op: string, body: Json) => port.tell(op, body),
    },
    async close(): Promise<void> {
      port.close("the login is over");
      try {
        child.kill("SIGKILL");
      } catch (error) {
        // The process has ended by itself.
        if (!(error instanceof TypeError)) throw error;
      }
      await Promise.all([child.status, pumped, input.close().catch(() => undefined)]);
    },
  });
}

function listen(port: number, answer: Parameters<LoginPowers["listen"]>[1]): Loopback {
  let server: Deno.HttpServer<Deno.NetAddr>;
  try {
    server = Deno.serve(
      { hostname: "127.0.0.1", port, onListen: () => undefined },
      ({ method, headers, url }) => {
        const { status, text } = answer({
          ...{ method, host: headers.get("host"), url: new URL(url) },
        });
        return new Response(text, { status, headers: HEADERS });
      },
    );
  } catch (cause) {
    throw new Fault("unavailable", `Cannot log in: port ${port} of 127.0.0.1 is taken`, { cause });
  }
  return Object.freeze<Loopback>({
    port: server.addr.port,
    async close(): Promise<void> {
      let timer;
      await Promise.race([
        server.shutdown(),
        new Promise((resolve) => timer = setTimeout(resolve, CLOSE_MS)),
      ]);
      clearTimeout(timer);
    },
  });
}
