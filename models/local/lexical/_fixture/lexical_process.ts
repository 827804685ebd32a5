/** The built-in embedder in its real process, without any permission, behind its port. @module */
import assert from "node:assert/strict";
import type { Json } from "../../../../contracts/json.ts";
import { Fault } from "../../../../contracts/fault.ts";
import { ModelInfo, type TextEmbedder } from "../../../../contracts/model.ts";
import { bundled, startChild } from "../../../../port/_fixture/bundled_child.ts";
import type { PipedChild } from "../../../../port/_fixture/piped_child.ts";
import { sha256Hex } from "../../../../port/digest.ts";

/** Bytes of a piece: a usual frame holds one. */
const PIECE = 524_288;

/** The bundled program; its folder goes when it is disposed of. */
export function lexicalProgram(): Promise<{ readonly file: string } & AsyncDisposable> {
  return bundled(new URL("../../main.ts", import.meta.url));
}

/** A process in which an embedder is open. */
export interface LexicalProcess extends AsyncDisposable {
  readonly embedder: TextEmbedder;
  readonly child: PipedChild;
}

/** Starts a process, sends it `lexicon` in pieces as the kernel does, and opens it. */
export async function openLexicalProcess(
  file: string,
  lexicon: Uint8Array,
): Promise<LexicalProcess> {
  const child = startChild(file, {
    ask: () => {
      throw new Fault("refused", "Cannot serve an embedder: it may ask for nothing");
    },
    tell: () => {},
  });
  try {
    for (let at = 0; at < lexicon.length; at += PIECE) {
      await child.port.ask("weights", { at, base64: lexicon.subarray(at, at + PIECE).toBase64() });
    }
    const config = JSON.stringify({ weights: sha256Hex(lexicon), bytes: lexicon.length });
    const opened = await child.port.ask("open", { kind: "lexical", ref: "lexical:test", config });
    return {
      child,
      embedder: embedderOf(child, ModelInfo.parse(opened)),
      [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
    };
  } catch (error) {
    await child[Symbol.asyncDispose]();
    throw error;
  }
}

function embedderOf(child: PipedChild, info: ModelInfo): TextEmbedder {
  let id = 0;
  return {
    info: () => Promise.resolve(info),
    async embed(texts, { signal }) {
      if (signal.aborted) throw new Fault("cancelled", "Cannot embed: cancelled");
      const answer = await child.port.ask("embed", { id: ++id, texts: [...texts] });
      const { vectors, inputTokens } = answer as { vectors: Json[]; inputTokens: number };
      return { vectors: vectors.map(vectorOf), inputTokens };
    },
  };
}

function vectorOf(text: Json): Float32Array {
  assert.ok(typeof text === "string");
  const view = new DataView(Uint8Array.fromBase64(text).buffer);
  return Float32Array.from({ length: view.byteLength / 4 }, (_, n) => view.getFloat32(4 * n, true));
}
