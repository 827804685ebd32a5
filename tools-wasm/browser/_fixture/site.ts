/** Pages that a test serves, and a host that fetches them. @module */
import type { WebAnswer } from "../../sdk/mod.ts";
import type { Host, WebRequest } from "../host.ts";

/** A host whose web is a table, with the requests to it. */
export interface Site extends Host {
  readonly asked: WebRequest[];
  readonly written: Map<string, string>;
}

/** A page of the table: HTML, or parts of an answer. */
export type Served = string | Partial<WebAnswer>;

/** Serves `pages` by address. */
export function makeSite(pages: Readonly<Record<string, Served>>): Site {
  const asked: WebRequest[] = [];
  const written = new Map<string, string>();
  let ids = 0;
  return {
    asked,
    written,
    http: {
      fetch(request): Promise<WebAnswer> {
        asked.push(request);
        const served = pages[request.url];
        if (served === undefined) {
          return Promise.reject(
            Object.assign(new Error(`Cannot fetch ${request.url}`), { code: "refused" }),
          );
        }
        return Promise.resolve(answerOf(request.url, served));
      },
    },
    fs: {
      write(file): Promise<null> {
        if ("text" in file) written.set(file.path, file.text);
        return Promise.resolve(null);
      },
    },
    random: (bytes) => Promise.resolve(new Uint8Array(bytes).fill(++ids)),
  };
}

/** An answer with these fields. */
export function answerOf(url: string, served: Served): WebAnswer {
  const base = {
    status: 200,
    url,
    headers: { "content-type": "text/html; charset=utf-8" },
    cut: false,
  };
  return typeof served === "string" ? { ...base, text: served } : { ...base, ...served };
}
