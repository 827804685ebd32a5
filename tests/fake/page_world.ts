/** The page at a real address, over the desk of `remit serve`, over a real kernel. */
import { makeDisk } from "../../launch/disk/disk_powers.ts";
import { openKeyRing } from "../../config/key/ring.ts";
import { openPageDesk, type PageDesk } from "../../cli/service/page/desk.ts";
import { Fault } from "../../contracts/base/mod.ts";
import {
  after,
  listen,
  makeSeal,
  now,
  randomBytes,
  sha256Base64,
} from "../../service/gateway/gateway_powers.ts";
import { serveOverHttp } from "../../service/gateway/over_http.ts";
import { servePage } from "../../service/gateway/page/routes.ts";
import { STYLE } from "../../service/gateway/page/views.ts";
import { inHome, type KernelHome, type LiveKernel } from "./kernel.ts";

/** The surroundings of one page. */
export interface PageWorld {
  readonly url: string;
  readonly desk: PageDesk;
  readonly home: KernelHome;
  readonly kernel: LiveKernel;
}

/** Runs `f` with a served page. */
export async function withPage(f: (world: PageWorld) => Promise<void>): Promise<void> {
  const person = await Deno.makeTempDir({ prefix: "remit-person-" });
  const disk = makeDisk();
  const ring = openKeyRing(disk, { person });
  try {
    await inHome(async (home) => {
      const kernel = await home.start();
      // The parts of a command that the desk uses.
      const command = {
        powers: { disk, environment: { command: "remit", env: () => undefined } },
        places: { person },
        parsed: { args: [], flags: new Map() },
      } as unknown as Parameters<typeof openPageDesk>[0]["command"];
      const desk = await openPageDesk({
        ...{ command, link: kernel.link, now: Date.now, note: () => undefined },
        // Its kernel has everything: no lease was lost with another kernel.
        beforeAnswer: () => Promise.resolve(),
        secret: () => randomBytes(32).toBase64({ alphabet: "base64url", omitPadding: true }),
      });
      const none = (): Promise<never> => Promise.reject(new Fault("denied", "Cannot let it in"));
      const seal = await makeSeal(randomBytes(32));
      const styleDigest = await sha256Base64(STYLE);
      const asks = {
        ...{ a2aAdmit: none, hook: none, metrics: none, jwks: none, ready: none, fleet: none },
        ...{ pageOpen: desk.open, pageView: desk.view, pageAnswer: desk.answer },
        pageClose: (session: string) => Promise.resolve(desk.leave(session)),
      };
      const listening = serveOverHttp({
        starter: { admit: none, open: none, note: () => undefined, heard: () => undefined },
        open: {
          transport: "http",
          listen: { hostname: "127.0.0.1", port: 0 },
          ...{ hosts: [], origins: [], version: "0.0.0" },
          serves: {
            mcp: false,
            a2a: false,
            hooks: false,
            page: true,
            metrics: false,
            fleet: false,
          },
        },
        makeProtocol: () => ({ fetch: none, close: () => Promise.resolve() }),
        service: {
          asks,
          makePeers: () => ({
            fetch: none,
            heard: () => undefined,
            close: () => Promise.resolve(),
          }),
          page: (app, door) => servePage(app, { ...door, asks, styleDigest, seal }),
        },
        ...{ listen, now, after },
      });
      try {
        await f({ url: `http://${listening.address}`, desk, home, kernel });
      } finally {
        await listening.stop();
        await kernel.stop();
      }
    }, { person: ring.provideConsent() });
  } finally {
    await Deno.remove(person, { recursive: true });
  }
}
