/** The global `remit`: the requests of scripts and programs. @module */
import { argumentText, faultError, type HostCall, promised, quoted, textArgument } from "./host.ts";
import { charCodeAt, freeze, MakeBytes, own, put, stringify } from "./primordials.ts";

/** The text of a gated tool call. Throws any outcome but `ok`, with the outcome as code. */
function outcomeOf(name: string, answer: unknown): unknown {
  const outcome = own(answer, "outcome");
  const content = own(answer, "content");
  if (outcome === "ok") return content;
  const error = own(answer, "error");
  const message = typeof error === "string" ? error : own(error, "message");
  const why = typeof message === "string"
    ? message
    : typeof content === "string"
    ? content
    : "it failed";
  throw faultError(
    typeof outcome === "string" ? outcome : "upstream",
    `Cannot call ${name}: ${why}`,
  );
}

/** Makes the frozen object over `host`. Every function returns a promise. */
export function makeRemit(host: HostCall): object {
  // Passes its one object of arguments on.
  const passing = (fn: string) =>
    freeze((args: unknown) => promised(() => host(fn, argumentText(args, fn))));
  const api = {
    fs: freeze({
      read: passing("fs.read"),
      list: passing("fs.list"),
      write: passing("fs.write"),
      delete: passing("fs.delete"),
    }),
    http: freeze({ fetch: passing("http.fetch") }),
    model: freeze({ complete: passing("model.complete") }),
    memory: freeze({ query: passing("memory.query") }),
    secret: freeze({ use: passing("secret.use") }),
    tool: freeze((name: unknown, args: unknown) =>
      promised(() => {
        const tool = textArgument(name, "The name of a tool");
        const text = argumentText(args, tool);
        return outcomeOf(tool, host("tool.call", `{"name":${quoted(tool)},"args":${text}}`));
      })
    ),
    log: freeze((text: unknown) => promised(() => host("log", oneText(text)))),
    progress: freeze((text: unknown) => promised(() => host("progress", oneText(text)))),
    clock: freeze(() => promised(() => own(host("clock", "{}"), "now"))),
    random: freeze((bytes: unknown) =>
      promised(() => {
        const count = typeof bytes === "number" ? stringify(bytes) ?? "0" : "0";
        return bytesOf(own(host("random", `{"bytes":${count}}`), "base64"));
      })
    ),
  };
  return freeze(api);
}

const fromBase64 = atob;

function bytesOf(base64: unknown): Uint8Array {
  const text = fromBase64(textArgument(base64, "The host's answer"));
  const bytes = new MakeBytes(text.length);
  for (let i = 0; i < text.length; i++) put(bytes, i, charCodeAt(text, i), true);
  return bytes;
}

function oneText(text: unknown): string {
  return `{"text":${quoted(textArgument(text, "The text"))}}`;
}
