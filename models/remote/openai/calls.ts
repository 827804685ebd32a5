/** Which call a piece of a chat completion chunk belongs to: servers differ in what they write. @module */
import type { Delta } from "../answer/delta.ts";
import { echoText } from "./echo.ts";
import { type Fields, fieldsOf, numberOf, stringOf } from "../wire_json.ts";

/** Takes pieces of calls, in their order, and begins at the end those that never had a name. */
export interface OpenaiCalls {
  take(piece: Fields): void;
  /** `thoughts` are those of the answer. */
  end(thoughts: string): void;
}

interface Call {
  readonly key: string;
  id: string;
  /** Begun once it has a name. */
  begun: boolean;
  /** Arguments so far. */
  text: string;
  signature: string;
}

/** Makes the calls of one answer. */
export function makeOpenaiCalls(give: (delta: Delta) => void): OpenaiCalls {
  const byIndex = new Map<number, Call>();
  const all: Call[] = [];

  const make = (index: number | undefined, id: string): Call => {
    const call: Call = { key: String(all.length), id, begun: false, text: "", signature: "" };
    all.push(call);
    if (index !== undefined) byIndex.set(index, call);
    return call;
  };
  const begin = (call: Call, name: string): void => {
    call.begun = true;
    give({ kind: "callStart", key: call.key, id: call.id === "" ? undefined : call.id, name });
    if (call.text !== "") give({ kind: "callDelta", key: call.key, text: call.text });
  };

  return Object.freeze<OpenaiCalls>({
    take(piece) {
      const index = numberOf(piece["index"]);
      const id = stringOf(piece["id"]);
      const named = fieldsOf(piece["function"]);
      const name = stringOf(named["name"]);
      const text = textOf(named["arguments"]);
      // A server without indexes writes each call whole, or goes on with the last.
      const known = index !== undefined
        ? byIndex.get(index)
        : all.findLast((call) => id !== "" && call.id === id) ??
          (name === "" ? all.at(-1) : undefined);
      const call = known === undefined || isAnother(known, { id, name, text })
        ? make(index, id)
        : known;
      if (call.id === "" && !call.begun) call.id = id;
      call.signature += signatureOf(piece);
      if (!call.begun && name !== "") {
        call.text += text;
        return begin(call, name);
      }
      call.text += text;
      if (call.begun && text !== "") give({ kind: "callDelta", key: call.key, text });
    },
    end(thoughts) {
      for (const [at, call] of all.entries()) {
        if (!call.begun) begin(call, "");
        const said = { signature: call.signature, thoughts: at === 0 ? thoughts : "" };
        const echo = echoText(said);
        if (echo !== undefined) give({ kind: "callEcho", key: call.key, echo });
      }
    },
  });
}

/** Gemini signs a call with what it thought before it. */
function signatureOf(piece: Fields): string {
  return stringOf(fieldsOf(fieldsOf(piece["extra_content"])["google"])["thought_signature"]);
}

/** Some servers write index 0 for each call: a new id, or a new beginning after a whole one, tells. */
function isAnother(
  known: Call,
  { id, name, text }: { readonly id: string; readonly name: string; readonly text: string },
): boolean {
  if (name === "" || !known.begun) return false;
  if (id !== "" && known.id !== "") return id !== known.id;
  return id === "" && text.startsWith("{") && isWhole(known.text);
}

function isWhole(text: string): boolean {
  try {
    return typeof JSON.parse(text) === "object";
  } catch {
    return false;
  }
}

/** Arguments as text; some servers write the object itself. */
function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  return typeof value === "object" && value !== null ? JSON.stringify(value) : "";
}
