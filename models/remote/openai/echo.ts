/**
 * What servers of chat completions want said back with a model's calls while it works on: Gemini signs
 * each call, and models that think between calls are to find their thoughts again. @module
 */
import { ECHO_LIMIT } from "../../../contracts/chat.ts";
import { fieldsOf, stringOf, tryJson } from "../wire_json.ts";

/** The parts of an echo; the empty text for none. */
export interface OpenaiEcho {
  /** Gemini's, of one call. */
  readonly signature: string;
  /** Of the answer that made the call: with its first one. */
  readonly thoughts: string;
}

/** Writes an echo, without thoughts that are too long to keep; undefined for an empty one. */
export function echoText({ signature, thoughts }: OpenaiEcho): string | undefined {
  if (signature === "" && thoughts === "") return undefined;
  const text = JSON.stringify({
    ...(signature === "" ? {} : { signature }),
    ...(thoughts === "" ? {} : { thoughts }),
  });
  if (text.length <= ECHO_LIMIT) return text;
  return thoughts === "" ? undefined : echoText({ signature, thoughts: "" });
}

/** Reads one; empty for what is none. */
export function parseEcho(text: string | undefined): OpenaiEcho {
  const fields = fieldsOf(tryJson(text ?? ""));
  return { signature: stringOf(fields["signature"]), thoughts: stringOf(fields["thoughts"]) };
}
