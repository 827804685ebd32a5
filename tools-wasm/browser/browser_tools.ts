/** Opens pages, follows links, sends forms: one set of tools over one session. @module */
import { Fault } from "../../contracts/base/fault.ts";
import { type Filling, type FormRequest, requestOf } from "./form_request.ts";
import type { Host } from "./host.ts";
import { type At, makeSession } from "./session.ts";
import { answerText, isTextType } from "./answer_text.ts";
import { cannotFill, mustFit } from "../../text/page_form.ts";
import { differs, download } from "../../text/page_outline.ts";
import type { Control } from "./control.ts";
import type { Form } from "./form.ts";
import type { Target } from "./page.ts";

/** Arguments of an action at a ref that leads to `url`. */
interface LeadArgs extends At {
  readonly url: string;
}

/** Arguments of sending a form. */
interface SendArgs extends LeadArgs {
  readonly fields?: Readonly<Record<string, Filling>>;
}

/** Arguments of browser_download. */
interface DownloadArgs extends Partial<At> {
  readonly url: string;
  readonly path: string;
}

/** Makes the tools over a new session. The gate has checked arguments against the schemas. */
export function makeBrowserTools() {
  const session = makeSession();

  /** @throws Fault unless the ref is a link to exactly this address */
  const followed = ({ ref, snapshot, url }: LeadArgs): void => {
    const target = session.target({ ref, snapshot });
    if (target.kind !== "link") {
      throw new Fault(
        "invalidArguments",
        `Cannot click ${ref}: it is no link; forms are sent with browser_submit or browser_post`,
      );
    }
    if (target.url !== url) throw differs("url", { given: url, exact: target.url });
  };

  const sent = ({ ref, snapshot, fields = {} }: SendArgs): FormRequest => {
    const target = session.target({ ref, snapshot });
    if (target.kind === "link" || target.kind === "field") {
      throw new Fault(
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
        throw new Fault("refused", "Cannot open this: only http and https addresses are opened");
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
        throw new Fault(
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
        throw new Fault(
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
      return download({ url, path }, {
        fetch: (asked) => host.http.fetch(asked),
        textOf(answer, type): string | undefined {
          // Bytes that happen to be UTF-8 are text only if no media type says otherwise.
          const read = answer.text === undefined && !isTextType(type)
            ? undefined
            : answerText(answer);
          return read?.doubt === undefined ? read?.text : undefined;
        },
        write: (file) => host.fs.write(file),
      });
    },
    browser_close: ({ url }: { readonly url: string }) => {
      session.page(url);
      session.close();
      return "closed";
    },
  });
}

// Values for the fields of a form, named by ref.

/**
 * The value for each control of `form`.
 *
 * @throws Fault that names the field and what it accepts
 */
function filledBy(
  fields: Readonly<Record<string, Filling>>,
  form: Form,
  targets: ReadonlyMap<string, Target>,
): ReadonlyMap<Control, Filling> {
  const filled = new Map<Control, Filling>();
  for (const [ref, filling] of Object.entries(fields)) {
    const target = targets.get(ref);
    if (target?.kind !== "field" || target.form !== form) {
      throw cannotFill(
        ref,
        "it is no field of this form; use the refs that the newest snapshot lists beneath the form",
      );
    }
    filled.set(target.control, fitting(ref, target.control, filling));
  }
  return filled;
}

function fitting(ref: string, control: Control, filling: Filling): Filling {
  const { kind, most, readOnly } = control;
  if (control.disabled) throw cannotFill(ref, "it is disabled");
  if (kind === "hidden" || kind === "submit" || kind === "image" || kind === "inert") {
    throw cannotFill(ref, "it is not a field that is filled");
  }
  mustFit(ref, { kind, readOnly, most }, filling);
  return kind === "select" ? choice(ref, control, filling) : filling;
}

function choice(ref: string, { options, multiple }: Control, filling: Filling): readonly string[] {
  if (typeof filling === "boolean") {
    throw cannotFill(ref, "it takes the value of one of its options");
  }
  const wanted = typeof filling === "string" ? [filling] : filling;
  if (!multiple && wanted.length !== 1) {
    throw cannotFill(ref, "it takes exactly one of its options");
  }
  return wanted.map((text) => {
    const found = options.find(({ value }) => value === text) ??
      options.find(({ label }) => label === text);
    if (found !== undefined && !found.disabled) return found.value;
    const known = options.filter(({ disabled }) => !disabled).slice(0, 30).map(({ value }) =>
      JSON.stringify(value.slice(0, 60))
    );
    throw cannotFill(
      ref,
      `it has no option ${JSON.stringify(text.slice(0, 60))}; its options are ${known.join(", ")}`,
    );
  });
}
