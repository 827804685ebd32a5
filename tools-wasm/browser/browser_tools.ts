/** Opens pages, follows links, sends forms: one set of tools over one session. @module */
import { download } from "./download.ts";
import { type FormRequest, requestOf } from "./form_request.ts";
import type { Filling } from "./form_request.ts";
import { filledBy } from "./fill.ts";
import type { Host } from "./host.ts";
import { differs } from "./mismatch.ts";
import { Refusal } from "./refusal.ts";
import { type At, makeSession } from "./session.ts";

/** Arguments of an action at a ref that leads to `url`. */
export interface LeadArgs extends At {
  readonly url: string;
}

/** Arguments of sending a form. */
export interface SendArgs extends LeadArgs {
  readonly fields?: Readonly<Record<string, Filling>>;
}

/** Arguments of browser_download. */
export interface DownloadArgs extends Partial<At> {
  readonly url: string;
  readonly path: string;
}

/** Makes the tools over a session of their own. The gate has checked the arguments against tool.yaml's schemas. */
export function makeBrowserTools() {
  const session = makeSession();

  /** @throws Refusal unless the ref is a link to exactly this address */
  const followed = ({ ref, snapshot, url }: LeadArgs): void => {
    const target = session.target({ ref, snapshot });
    if (target.kind !== "link") {
      throw new Refusal(
        "invalidArguments",
        `Cannot click ${ref}: it is no link; forms are sent with browser_submit or browser_post`,
      );
    }
    if (target.url !== url) throw differs("url", { given: url, exact: target.url });
  };

  const sent = ({ ref, snapshot, fields = {} }: SendArgs): FormRequest => {
    const target = session.target({ ref, snapshot });
    if (target.kind === "link" || target.kind === "field") {
      throw new Refusal(
        "invalidArguments",
        `Cannot send ${ref}: name the ref of a form or of a submit button`,
      );
    }
    const { targets } = session.newest();
    const button = target.kind === "button" ? target.control : undefined;
    return requestOf(target.form, { button, filled: filledBy(fields, target.form, targets) });
  };

  return Object.freeze({
    browser_open: ({ url }: { readonly url: string }, host: Host) => {
      if (!/^https?:\/\//.test(url)) {
        throw new Refusal("refused", "Cannot open this: only http and https addresses are opened");
      }
      return session.visit({ url }, host);
    },
    browser_snapshot: ({ url, part = 1 }: { readonly url: string; readonly part?: number }) => {
      session.page(url);
      return session.show(part);
    },
    browser_click: (args: LeadArgs, host: Host) => {
      followed(args);
      return session.visit({ url: args.url }, host);
    },
    browser_submit: (args: SendArgs, host: Host) => {
      const request = sent(args);
      if (request.method !== "GET") {
        throw new Refusal(
          "invalidArguments",
          "Cannot submit: this form is sent with POST; use browser_post",
        );
      }
      if (request.url !== args.url) throw differs("url", { given: args.url, exact: request.url });
      return session.visit({ url: request.url }, host);
    },
    browser_post: (args: SendArgs & { readonly body: string }, host: Host) => {
      const request = sent(args);
      if (request.method !== "POST") {
        throw new Refusal(
          "invalidArguments",
          "Cannot post: this form is sent with GET; use browser_submit",
        );
      }
      if (request.url !== args.url) throw differs("url", { given: args.url, exact: request.url });
      if (request.body !== args.body) {
        throw differs("body", { given: args.body, exact: request.body });
      }
      return session.visit({
        url: request.url,
        method: "POST",
        headers: { "content-type": "application/x-www-form-urlencoded" },
        body: request.body,
      }, host);
    },
    browser_back: ({ snapshot, url }: { readonly snapshot: string; readonly url: string }) =>
      session.back(snapshot, url),
    browser_download: ({ url, path, ref, snapshot }: DownloadArgs, host: Host) => {
      if (ref !== undefined || snapshot !== undefined) {
        followed({ ref: ref ?? "", snapshot: snapshot ?? "", url });
      }
      return download({ url, path }, host);
    },
    browser_close: ({ url }: { readonly url: string }) => {
      session.page(url);
      session.close();
      return "closed";
    },
  });
}
