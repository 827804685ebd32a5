/** Host calls: the one way out of the engine. @module */
import {
  fix,
  MakeError,
  MakePromise,
  MakeTypeError,
  own,
  parseJson,
  put,
  stringify,
} from "./primordials.ts";

/** The function that leaves the engine: a request as JSON text, answered by an envelope as JSON text. */
export type RawCall = (text: string) => string | undefined;

/** Asks the host for `fn` with arguments that are JSON text already. Throws what the host refused, with a `code`. */
export type HostCall = (fn: string, args: string) => unknown;

/** An error of ours, with a fault's code. */
export function faultError(code: string, message: string): Error {
  const error = new MakeError(message);
  put(error, "name", "RemitError");
  fix(error, "code", code);
  return error;
}

/** A text as JSON, whatever a program did to `String.prototype`. */
export function quoted(text: string): string {
  return stringify(text) ?? '""';
}

/** The value as JSON text, for arguments. Throws `invalidArguments` for what is not an object of JSON. */
export function argumentText(value: unknown, what: string): string {
  if (value === undefined) return "{}";
  if (typeof value !== "object" || value === null) {
    throw faultError("invalidArguments", `Cannot call ${what}: its arguments are not an object`);
  }
  const text = stringify(value);
  if (text === undefined || text[0] !== "{") {
    throw faultError("invalidArguments", `Cannot call ${what}: its arguments are not an object`);
  }
  return text;
}

/** Wraps the raw function. No program ever gets hold of `raw`. */
export function makeHostCall(raw: RawCall): HostCall {
  return (fn, args) => {
    const text = raw(`{"fn":${quoted(fn)},"args":${args}}`);
    if (text === undefined) {
      throw faultError("tooLarge", `Cannot call ${fn}: there is no memory for its answer`);
    }
    const answer = parseJson(text);
    if (own(answer, "ok") === true) return own(answer, "value");
    const error = own(answer, "error");
    const code = own(error, "code");
    const message = own(error, "message");
    throw faultError(
      typeof code === "string" ? code : "upstream",
      typeof message === "string" ? message : `Cannot call ${fn}: it failed`,
    );
  };
}

/** A promise of what `work` returns or throws. `work` is done at once: the host answers before it returns. */
export function promised<T>(work: () => T): Promise<T> {
  return new MakePromise((done, failed) => {
    try {
      done(work());
    } catch (error) {
      failed(error);
    }
  });
}

/** `value` as text, for a name, a path or a line. */
export function textArgument(value: unknown, what: string): string {
  if (typeof value === "string") return value;
  throw new MakeTypeError(`${what} is not a string`);
}
