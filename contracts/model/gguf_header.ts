/** The header of a GGUF file, checked before any engine reads the file. @module */
import {
  badGguf,
  type GgufCursor,
  type HeaderFile,
  makeGgufCursor,
  type MetadataValue,
} from "./gguf_cursor.ts";

/** A tensor's byte range in the file. */
export interface TensorPlace {
  readonly name: string;
  /** Bytes from the file's beginning. */
  readonly at: number;
  readonly end: number;
}

/** A consistent header: every tensor lies within the file, every count is bounded. */
export interface GgufHeader {
  readonly architecture: string;
  readonly name: string | undefined;
  readonly licence: string | undefined;
  readonly quantisation: string | undefined;
  readonly contextTokens: number;
  /** Length of a token's vector. */
  readonly width: number;
  readonly layers: number;
  /** Numbers kept in the key-value cache for one token in one layer. */
  readonly kept: number;
  /** Jinja; absent in many embedders. */
  readonly chatTemplate: string | undefined;
  /** Control tokens as text, such as `<|im_start|>`. */
  readonly controls: readonly string[];
  /** The text that ends an answer. */
  readonly end: string | undefined;
  readonly tensors: readonly TensorPlace[];
}

/** Storage of one tensor type: `values` numbers in a block of `bytes`. */
interface TensorType {
  readonly values: number;
  readonly bytes: number;
}

const plain = (bytes: number): TensorType => ({ values: 1, bytes });
const blocks = (values: number, bytes: number): TensorType => ({ values, bytes });

/** By type number. The engine does not support other types. */
const TENSOR_TYPES: ReadonlyMap<number, TensorType> = new Map([
  [0, plain(4)], // F32
  [1, plain(2)], // F16
  [2, blocks(32, 18)], // Q4_0
  [3, blocks(32, 20)], // Q4_1
  [6, blocks(32, 22)], // Q5_0
  [7, blocks(32, 24)], // Q5_1
  [8, blocks(32, 34)], // Q8_0
  [10, blocks(256, 84)], // Q2_K
  [11, blocks(256, 110)], // Q3_K
  [12, blocks(256, 144)], // Q4_K
  [13, blocks(256, 176)], // Q5_K
  [14, blocks(256, 210)], // Q6_K
  [16, blocks(256, 66)], // IQ2_XXS
  [17, blocks(256, 74)], // IQ2_XS
  [18, blocks(256, 98)], // IQ3_XXS
  [19, blocks(256, 50)], // IQ1_S
  [20, blocks(32, 18)], // IQ4_NL
  [21, blocks(256, 110)], // IQ3_S
  [22, blocks(256, 82)], // IQ2_S
  [23, blocks(256, 136)], // IQ4_XS
  [24, plain(1)], // I8
  [25, plain(2)], // I16
  [26, plain(4)], // I32
  [27, plain(8)], // I64
  [28, plain(8)], // F64
  [29, blocks(256, 56)], // IQ1_M
  [30, plain(2)], // BF16
  [34, blocks(256, 54)], // TQ1_0
  [35, blocks(256, 66)], // TQ2_0
  [39, blocks(32, 17)], // MXFP4
]);

/** `general.file_type` by number: the type of most weights. */
const QUANTISATIONS: ReadonlyMap<number, string> = new Map([
  [0, "F32"],
  [1, "F16"],
  [2, "Q4_0"],
  [3, "Q4_1"],
  [7, "Q8_0"],
  [8, "Q5_0"],
  [9, "Q5_1"],
  [10, "Q2_K"],
  [11, "Q3_K_S"],
  [12, "Q3_K_M"],
  [13, "Q3_K_L"],
  [14, "Q4_K_S"],
  [15, "Q4_K_M"],
  [16, "Q5_K_S"],
  [17, "Q5_K_M"],
  [18, "Q6_K"],
  [19, "IQ2_XXS"],
  [20, "IQ2_XS"],
  [21, "Q2_K_S"],
  [22, "IQ3_XS"],
  [23, "IQ3_XXS"],
  [24, "IQ1_S"],
  [25, "IQ4_NL"],
  [26, "IQ3_S"],
  [27, "IQ3_M"],
  [28, "IQ2_S"],
  [29, "IQ2_M"],
  [30, "IQ4_XS"],
  [31, "IQ1_M"],
  [32, "BF16"],
  [36, "TQ1_0"],
  [37, "TQ2_0"],
  [38, "MXFP4"],
]);

const MAGIC = 0x46554747;
const MAX_TENSORS = 65_536;
const MAX_ENTRIES = 4_096;
const MAX_KEY = 256;
const MAX_NAME = 63;
const MAX_CONTROLS = 16_384;
/** The lists that are read; others are skipped. */
const LISTS: ReadonlySet<string> = new Set(["tokenizer.ggml.tokens", "tokenizer.ggml.token_type"]);
/** Types of tokens: control tokens, and user-defined tokens (mostly runs of blanks). */
const CONTROL = 3;
const DEFINED = 4;
const MARK = /^<.*[|｜_].*>$/;
/** Part of displayed ids. */
const ARCHITECTURE = /^[a-z0-9][a-z0-9._-]{0,63}$/;

type Metadata = ReadonlyMap<string, MetadataValue>;

/** Reads and checks the header. Throws Fault `invalidInput` that names the defect. */
export function readGgufHeader(file: HeaderFile): GgufHeader {
  const cursor = makeGgufCursor(file);
  if (cursor.u32() !== MAGIC) throw badGguf('it does not begin with "GGUF"');
  const version = cursor.u32();
  if (version !== 2 && version !== 3) {
    throw badGguf(`it is of version ${version}; 2 and 3 are read`);
  }
  const tensorCount = cursor.u64();
  const entryCount = cursor.u64();
  if (tensorCount > MAX_TENSORS) throw badGguf(`${tensorCount} tensors`);
  if (tensorCount === 0) throw badGguf("it holds no tensor");
  if (entryCount > MAX_ENTRIES) throw badGguf(`${entryCount} entries of metadata`);
  const metadata = readMetadata(cursor, entryCount);
  const tensors = readTensors(cursor, tensorCount, { metadata, length: file.length });
  return describe(metadata, tensors);
}

function readMetadata(cursor: GgufCursor, count: number): Metadata {
  const metadata = new Map<string, MetadataValue>();
  const seen = new Set<string>();
  for (let n = 0; n < count; n++) {
    const key = cursor.text(MAX_KEY);
    if (seen.has(key)) throw badGguf(`${JSON.stringify(key)} comes twice`);
    seen.add(key);
    const value = cursor.value(LISTS.has(key));
    if (value !== undefined) metadata.set(key, value);
  }
  return metadata;
}

function readTensors(
  cursor: GgufCursor,
  count: number,
  { metadata, length }: { readonly metadata: Metadata; readonly length: number },
): readonly TensorPlace[] {
  const alignment = numberOf(metadata, "general.alignment") ?? 32;
  if (alignment < 8 || alignment > 65_536 || !Number.isInteger(Math.log2(alignment))) {
    throw badGguf(`an alignment of ${alignment}`);
  }
  const names = new Set<string>();
  const relative: TensorPlace[] = [];
  for (let n = 0; n < count; n++) {
    const name = cursor.text(MAX_NAME);
    if (names.has(name)) throw badGguf(`the tensor ${JSON.stringify(name)} comes twice`);
    names.add(name);
    const bytes = tensorBytes(cursor, name);
    const at = cursor.u64();
    if (at % alignment !== 0) throw badGguf(`the tensor ${JSON.stringify(name)} is not aligned`);
    relative.push({ name, at, end: at + bytes });
  }
  const start = Math.ceil(cursor.at() / alignment) * alignment;
  return relative.map(({ name, at, end }) => {
    if (start + end > length) {
      const why = `the tensor ${JSON.stringify(name)} ends at ${start + end}`;
      throw badGguf(`${why}, the file at ${length}: is it cut off?`);
    }
    return { name, at: start + at, end: start + end };
  });
}

function tensorBytes(cursor: GgufCursor, name: string): number {
  const wrong = (why: string): Error => badGguf(`the tensor ${JSON.stringify(name)} has ${why}`);
  const dimensions = cursor.u32();
  if (dimensions < 1 || dimensions > 4) throw wrong(`${dimensions} dimensions`);
  let values = 1;
  let row = 0;
  for (let n = 0; n < dimensions; n++) {
    const size = cursor.u64();
    if (size === 0) throw wrong("a dimension of 0");
    if (n === 0) row = size;
    values *= size;
    if (!Number.isSafeInteger(values)) throw wrong("more values than can be counted");
  }
  const type = cursor.u32();
  const layout = TENSOR_TYPES.get(type);
  if (layout === undefined) throw wrong(`the type ${type}, which this engine does not read`);
  if (row % layout.values !== 0) throw wrong(`rows of ${row} values, ${layout.values} in a block`);
  return values / layout.values * layout.bytes;
}

function describe(metadata: Metadata, tensors: readonly TensorPlace[]): GgufHeader {
  const architecture = textOf(metadata, "general.architecture");
  if (architecture === undefined || !ARCHITECTURE.test(architecture)) {
    throw badGguf(`its architecture is ${JSON.stringify(architecture ?? "missing")}`);
  }
  const own = (key: string): number | undefined => numberOf(metadata, `${architecture}.${key}`);
  const bounded = (key: string, most: number): number => {
    const value = own(key);
    if (value === undefined || !Number.isInteger(value) || value < 1 || value > most) {
      throw badGguf(`its ${key} is ${value ?? "missing"}`);
    }
    return value;
  };
  const width = bounded("embedding_length", 1_048_576);
  const heads = own("attention.head_count") ?? 1;
  const sharedHeads = own("attention.head_count_kv") ?? heads;
  const fileType = numberOf(metadata, "general.file_type");
  return Object.freeze<GgufHeader>({
    architecture,
    name: textOf(metadata, "general.name"),
    licence: textOf(metadata, "general.license"),
    quantisation: fileType === undefined ? undefined : QUANTISATIONS.get(fileType),
    contextTokens: bounded("context_length", 100_000_000),
    width,
    layers: bounded("block_count", 4_096),
    kept: Math.ceil(
      ((own("attention.key_length") ?? width / heads) +
        (own("attention.value_length") ?? width / heads)) * sharedHeads,
    ),
    chatTemplate: textOf(metadata, "tokenizer.chat_template"),
    ...tokensOf(metadata),
    tensors,
  });
}

function tokensOf(metadata: Metadata): Pick<GgufHeader, "controls" | "end"> {
  const tokens = metadata.get("tokenizer.ggml.tokens");
  const types = metadata.get("tokenizer.ggml.token_type");
  const last = numberOf(metadata, "tokenizer.ggml.eos_token_id");
  const texts = Array.isArray(tokens) ? tokens.map(String) : [];
  const kinds = Array.isArray(types) ? types.map(Number) : [];
  const controls = texts.filter((text, n) =>
    text.length > 1 && (kinds[n] === CONTROL || (kinds[n] === DEFINED && MARK.test(text)))
  );
  if (controls.length > MAX_CONTROLS) throw badGguf(`${controls.length} control tokens`);
  return { controls, end: last === undefined ? undefined : texts[last] };
}

function numberOf(metadata: Metadata, key: string): number | undefined {
  const value = metadata.get(key);
  return typeof value === "number" ? value : undefined;
}

function textOf(metadata: Metadata, key: string): string | undefined {
  const value = metadata.get(key);
  return typeof value === "string" ? value : undefined;
}
