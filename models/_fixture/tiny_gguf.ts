/**
 * A tiny language model with random weights, made by code: it loads, decodes and follows grammars as
 * a real one does, and its words mean nothing. The same options give the same bytes everywhere.
 *
 * @example
 * ```ts
 * import { makeTinyGguf } from "./tiny_gguf.ts";
 * const file = makeTinyGguf({ seed: 7 });
 * if (file.length > 1_000_000) throw new Error("tiny means under a megabyte");
 * ```
 * @module
 */
import { ggufBytes, type GgufTensor, type GgufValue } from "./gguf_bytes.ts";

/** Options of the model. */
export interface TinyGgufOptions {
  /** Seed of the weights. */
  readonly seed: number;
  /** The context size in the file's metadata, tokens; 4,096. */
  readonly contextTokens?: number;
  /** For sentence vectors: mean pooling in its metadata. */
  readonly embedding?: boolean;
  /** Writes short calls wherever the grammar allows, and then ends soon. */
  readonly eager?: boolean;
  /** Never ends an answer by itself. */
  readonly endless?: boolean;
  /** Width (a multiple of 32; 64) and depth (2): larger for measurements of memory and speed. */
  readonly width?: number;
  readonly layers?: number;
  /** Architecture name in the metadata; only `llama` loads. */
  readonly architecture?: string;
  /** Overrides of the metadata, for files that are wrong in one place. */
  readonly metadata?: Readonly<Record<string, GgufValue>>;
  /** Names of omitted tensors. */
  readonly without?: readonly string[];
}

/** Its chat template, as Jinja: ChatML. */
const TINY_TEMPLATE =
  "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}" +
  "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

const NORMAL = 1;
const UNKNOWN = 2;
const CONTROL = 3;
const DEFINED = 4;
const BYTE = 6;
const HEADS = 4;
const CALL = "<tool_call>";
/** Added probability of some tokens in a model that is eager to call. */
const EAGER: ReadonlyMap<string, number> = new Map([[CALL, 3], ["<|im_end|>", 2], ['"', 2]]);
const WORDS =
  ("the a to of and in is it for on you that with as tool name arguments system user assistant read " +
    "write search file path query result error true false null").split(" ");

interface Vocabulary {
  readonly texts: readonly string[];
  readonly scores: readonly number[];
  readonly types: readonly number[];
}

/** Control tokens, every byte, every printable character, and some words with their prefixes. */
function makeVocabulary(): Vocabulary {
  const tokens = new Map<string, readonly [score: number, type: number]>();
  const add = (text: string, score: number, type: number): void => {
    if (!tokens.has(text)) tokens.set(text, [score, type]);
  };
  add("<unk>", 0, UNKNOWN);
  for (const text of ["<s>", "</s>", "<|im_start|>", "<|im_end|>"]) add(text, 0, CONTROL);
  for (const text of [CALL, "</tool_call>"]) add(text, 0, DEFINED);
  for (let byte = 0; byte < 256; byte++) {
    add(`<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`, 0, BYTE);
  }
  for (let code = 32; code < 127; code++) {
    add(code === 32 ? "▁" : String.fromCharCode(code), -1_000, NORMAL);
  }
  let score = -1;
  for (const word of WORDS) {
    for (let end = 2; end <= word.length; end++) add(word.slice(0, end), score--, NORMAL);
  }
  for (const word of WORDS) add(`▁${word}`, score--, NORMAL);
  const rows = [...tokens];
  return {
    texts: rows.map(([text]) => text),
    scores: rows.map(([, [value]]) => value),
    types: rows.map(([, [, type]]) => type),
  };
}

/** Numbers of nearly normal distribution from integer arithmetic: the same on every machine. */
function makeNoise(seed: number): (length: number, deviation: number) => Float32Array<ArrayBuffer> {
  let state = seed | 0;
  const uniform = (): number => {
    state = state + 0x6d2b79f5 | 0;
    let mixed = Math.imul(state ^ state >>> 15, 1 | state);
    mixed = mixed + Math.imul(mixed ^ mixed >>> 7, 61 | mixed) ^ mixed;
    return ((mixed ^ mixed >>> 14) >>> 0) / 4_294_967_296;
  };
  return (length, deviation) => {
    const noise = new Float32Array(length);
    // The sum of three uniforms has a standard deviation of one half.
    for (let n = 0; n < length; n++) {
      noise[n] = (uniform() + uniform() + uniform() - 1.5) * 2 * deviation;
    }
    return noise;
  };
}

function makeTensors(
  { seed, width = 64, layers = 2, eager = false, endless = false }: TinyGgufOptions,
  { texts, types }: Vocabulary,
): readonly GgufTensor[] {
  const noise = makeNoise(seed);
  const wide = width * 5 / 2;
  const ones = (length: number): Float32Array<ArrayBuffer> => new Float32Array(length).fill(1);
  const matrix = (name: string, from: number, to: number): GgufTensor => ({
    name,
    shape: [from, to],
    data: noise(from * to, 1 / Math.sqrt(from)),
  });
  const norm = (name: string): GgufTensor => ({ name, shape: [width], data: ones(width) });
  const embedding = noise(texts.length * width, 1);
  // Channel 0 is the same for every token, and no layer writes it: a bias of the output.
  for (let token = 0; token < texts.length; token++) embedding[token * width] = 4;
  const tensors: GgufTensor[] = [
    { name: "token_embd.weight", shape: [width, texts.length], data: embedding },
  ];
  for (let layer = 0; layer < layers; layer++) {
    const block = `blk.${layer}.`;
    const attention = matrix(`${block}attn_output.weight`, width, width);
    const down = matrix(`${block}ffn_down.weight`, wide, width);
    attention.data.fill(0, 0, width);
    down.data.fill(0, 0, wide);
    tensors.push(
      norm(`${block}attn_norm.weight`),
      norm(`${block}ffn_norm.weight`),
      ...["attn_q", "attn_k", "attn_v"].map((name) =>
        matrix(`${block}${name}.weight`, width, width)
      ),
      attention,
      matrix(`${block}ffn_gate.weight`, width, wide),
      matrix(`${block}ffn_up.weight`, width, wide),
      down,
    );
  }
  const output = noise(texts.length * width, 1 / Math.sqrt(width));
  texts.forEach((text, token) => {
    // Single bytes exist but are never chosen freely: text stays UTF-8.
    const never = types[token] === BYTE || types[token] === UNKNOWN ||
      (endless && types[token] === CONTROL);
    output[token * width] = never ? -20 : eager ? EAGER.get(text) ?? 0 : 0;
  });
  return [...tensors, norm("output_norm.weight"), {
    name: "output.weight",
    shape: [width, texts.length],
    data: output,
  }];
}

/** Makes the file: GGUF version 3, 32-bit floats, about 650 KB at the default size. */
export function makeTinyGguf(options: TinyGgufOptions): Uint8Array<ArrayBuffer> {
  const { contextTokens = 4_096, embedding = false, width = 64, layers = 2 } = options;
  const { architecture = "llama" } = options;
  const vocabulary = makeVocabulary();
  const { texts, scores, types } = vocabulary;
  const own = (key: string): string => `${architecture}.${key}`;
  const metadata: Record<string, GgufValue> = {
    "general.architecture": { text: architecture },
    "general.name": { text: embedding ? "tiny random embedder" : "tiny random" },
    "general.alignment": { u32: 32 },
    "general.file_type": { u32: 0 },
    [own("context_length")]: { u32: contextTokens },
    [own("embedding_length")]: { u32: width },
    [own("block_count")]: { u32: layers },
    [own("feed_forward_length")]: { u32: width * 5 / 2 },
    [own("attention.head_count")]: { u32: HEADS },
    [own("attention.head_count_kv")]: { u32: HEADS },
    [own("rope.dimension_count")]: { u32: width / HEADS },
    [own("attention.layer_norm_rms_epsilon")]: { f32: 1e-5 },
    [own("vocab_size")]: { u32: texts.length },
    ...(embedding ? { [own("pooling_type")]: { u32: 1 } } : {}),
    "tokenizer.ggml.model": { text: "llama" },
    "tokenizer.ggml.tokens": { texts },
    "tokenizer.ggml.scores": { f32s: scores },
    "tokenizer.ggml.token_type": { i32s: types },
    "tokenizer.ggml.bos_token_id": { u32: 1 },
    "tokenizer.ggml.eos_token_id": { u32: texts.indexOf("<|im_end|>") },
    "tokenizer.ggml.unknown_token_id": { u32: 0 },
    "tokenizer.ggml.add_bos_token": { bool: true },
    "tokenizer.ggml.add_space_prefix": { bool: false },
    "tokenizer.chat_template": { text: TINY_TEMPLATE },
    ...options.metadata,
  };
  const tensors = makeTensors(options, vocabulary)
    .filter(({ name }) => !options.without?.includes(name));
  return ggufBytes(metadata, tensors);
}
