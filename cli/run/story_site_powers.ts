/** Serves the site of `--story web` on this machine. @module */
import { Fault } from "../../contracts/base/mod.ts";
import type { StorySite } from "../powers.ts";

/** The target of the site's redirect `/moved`: an address that no request may reach. */
const METADATA = "http://169.254.169.254/latest/meta-data/";
const NAME = /^\/[a-z]{1,32}$/;

/** Serves the pages `NAME.html` of a folder at `/NAME`, on a loopback address, until it is closed. */
export function serveStorySite(folder: string): StorySite {
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => undefined },
    async (request): Promise<Response> => {
      const { pathname } = new URL(request.url);
      if (pathname === "/moved") {
        return new Response(null, { status: 302, headers: { location: METADATA } });
      }
      if (!NAME.test(pathname)) return new Response("no such page\n", { status: 404 });
      try {
        const page = await Deno.readTextFile(`${folder}${pathname}.html`);
        return new Response(page, { headers: { "content-type": "text/html; charset=utf-8" } });
      } catch (error) {
        if (!(error instanceof Deno.errors.NotFound)) throw error;
        return new Response("no such page\n", { status: 404 });
      }
    },
  );
  const { addr } = server;
  if (addr.transport !== "tcp") {
    throw new Fault("unavailable", "Cannot serve the story's site: no loopback address");
  }
  return Object.freeze({
    origin: `http://127.0.0.1:${addr.port}`,
    close: () => server.shutdown(),
  });
}
