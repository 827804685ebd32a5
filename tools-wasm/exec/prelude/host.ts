/** Host calls: the only way out of the engine. @module */
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

/** The function that leaves the engine: JSON request text in, JSON envelope text out. */
export type RawCall = (text: string) => string | undefined;

/** Asks the host for `fn` with arguments in JSON text. Throws the host's refusal, with a `code`. */
export type HostCall = (fn: string, args: string) => unknown;

/** An error of the prelude, with a fault's code. */
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

/** The value as JSON text, for arguments. Throws `invalidArguments` unless it is a JSON object. */
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

/** Wraps the raw function. Programs never get access to `raw`. */
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

/** A promise of the result of `work`, which runs at once: the host answers before it returns. */
export function promised<T>(work: () => T): Promise<T> {
  return new MakePromise((done, failed) => {
    try {
      done(work());
    } catch (error) {
      failed(error);
    }
  });
}

/** `value` if it is a text: a name, a path or a line. */
export function textArgument(value: unknown, what: string): string {
  if (typeof value === "string") return value;
  throw new MakeTypeError(`${what} is not a string`);
}
