import assert from "node:assert/strict";
import fc from "fast-check";
import { Fault } from "../../contracts/base/fault.ts";
import { makeByteWriter } from "../_fixture/gguf_bytes.ts";
import { makeTinyGguf } from "../_fixture/tiny_gguf.ts";
import { readGgufHeader } from "../../contracts/model/gguf_header.ts";
import { makeWeightsFile } from "./open.ts";

const tiny = makeTinyGguf({ seed: 7 });
const headerLength = Math.min(...readGgufHeader(fileOf(tiny)).tensors.map(({ at }) => at));

function fileOf(bytes: Uint8Array): ReturnType<typeof makeWeightsFile> {
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += 100_000) pieces.push(bytes.slice(at, at + 100_000));
  return makeWeightsFile(pieces);
}

/** The refusal of a file: any other error is a bug. */
function refused(bytes: Uint8Array): string | undefined {
  try {
    readGgufHeader(fileOf(bytes));
    return undefined;
  } catch (error) {
    assert.ok(error instanceof Fault && error.code === "invalidInput", String(error));
    assert.match(error.message, /^Cannot read the weights as GGUF: /);
    return error.message;
  }
}

/** A header from its parts, with `tensors` of one type each. */
function header(parts: {
  readonly magic?: string;
  readonly version?: number;
  readonly tensorCount?: number;
  readonly entryCount?: number;
  readonly rest?: (to: ReturnType<typeof makeByteWriter>) => void;
}): Uint8Array {
  const to = makeByteWriter();
  to.raw(new TextEncoder().encode(parts.magic ?? "GGUF"));
  to.u32(parts.version ?? 3);
  to.u64(parts.tensorCount ?? 1);
  to.u64(parts.entryCount ?? 1);
  parts.rest?.(to);
  return to.bytes();
}

Deno.test("a header says architecture, name, quantisation, context, template and control tokens", () => {
  const read = readGgufHeader(fileOf(makeTinyGguf({ seed: 7, contextTokens: 777 })));
  assert.equal(read.architecture, "llama");
  assert.equal(read.name, "tiny random");
  assert.equal(read.quantisation, "F32");
  assert.equal(read.contextTokens, 777);
  assert.match(read.chatTemplate ?? "", /im_start/);
  assert.deepEqual(read.controls.slice(0, 4), ["<s>", "</s>", "<|im_start|>", "<|im_end|>"]);
  assert.equal(read.end, "<|im_end|>");
  assert.equal(read.tensors.length, 21);
});

Deno.test("a file that ends anywhere within its header or its tensors is refused", () => {
  const ends = [0, 3, 4, 8, 16, 24, 30, headerLength - 1, headerLength, tiny.length - 100];
  for (let end = 40; end < headerLength; end += 997) ends.push(end);
  for (const end of ends) assert.ok(refused(tiny.subarray(0, end)) !== undefined, `${end} bytes`);
});

Deno.test("whatever bytes of a header are changed, it is read or refused, never anything else", () => {
  const change = fc.array(fc.tuple(fc.nat(headerLength - 1), fc.nat(255)), {
    minLength: 1,
    maxLength: 6,
  });
  fc.assert(
    fc.property(change, (changes) => {
      const bytes = tiny.slice();
      for (const [at, value] of changes) bytes[at] = value;
      refused(bytes);
    }),
    { numRuns: 300 },
  );
});

Deno.test("absurd counts, lengths, types and offsets are refused by name", () => {
  const entry = (type: number, write: (to: ReturnType<typeof makeByteWriter>) => void) =>
    header({
      rest: (to) => {
        to.text("some.key");
        to.u32(type);
        write(to);
      },
    });
  const tensor = (write: (to: ReturnType<typeof makeByteWriter>) => void) =>
    header({
      entryCount: 0,
      rest: (to) => {
        to.text("t");
        write(to);
      },
    });
  const cases: readonly (readonly [string, Uint8Array])[] = [
    ['does not begin with "GGUF"', header({ magic: "GGML" })],
    ["of version 1", header({ version: 1 })],
    ["of version 4", header({ version: 4 })],
    ["holds no tensor", header({ tensorCount: 0 })],
    ["9000000000 tensors", header({ tensorCount: 9_000_000_000 })],
    ["9000000000 entries", header({ entryCount: 9_000_000_000 })],
    ["a text of 100000 bytes, 256 at most", header({ rest: (to) => to.u64(100_000) })],
    ["a text of 9000000 bytes", entry(8, (to) => to.u64(9_000_000))],
    ["ends within its header", entry(8, (to) => to.u64(4_000_000))],
    [
      "a list of 5000000000 items",
      entry(9, (to) => {
        to.u32(4);
        to.u64(5_000_000_000);
      }),
    ],
    [
      "the unknown type 9",
      entry(9, (to) => {
        to.u32(9);
        to.u64(1);
      }),
    ],
    ["the unknown type 99", entry(99, (to) => to.u64(1))],
    ["7 dimensions", tensor((to) => to.u32(7))],
    [
      "a dimension of 0",
      tensor((to) => {
        to.u32(1);
        to.u64(0);
      }),
    ],
    [
      "more values than can be counted",
      tensor((to) => {
        to.u32(2);
        to.u64(2 ** 40);
        to.u64(2 ** 40);
      }),
    ],
    [
      "the type 31",
      tensor((to) => {
        to.u32(1);
        to.u64(32);
        to.u32(31);
      }),
    ],
    [
      "rows of 33 values, 32 in a block",
      tensor((to) => {
        to.u32(1);
        to.u64(33);
        to.u32(2);
      }),
    ],
    [
      "is not aligned",
      tensor((to) => {
        to.u32(1);
        to.u64(32);
        to.u32(0);
        to.u64(7);
      }),
    ],
    [
      "is it cut off?",
      tensor((to) => {
        to.u32(1);
        to.u64(32);
        to.u32(0);
        to.u64(2 ** 50);
      }),
    ],
    ["its architecture is", makeTinyGguf({ seed: 1, architecture: "../../etc" })],
    ["its context_length is 0", makeTinyGguf({ seed: 1, contextTokens: 0 })],
    [
      "an alignment of 31",
      makeTinyGguf({ seed: 1, metadata: { "general.alignment": { u32: 31 } } }),
    ],
  ];
  for (const [why, bytes] of cases) {
    assert.ok(refused(bytes)?.includes(why), `${why}: ${refused(bytes) ?? "read"}`);
  }
  const huge = entry(8, () => {});
  huge.set([255, 255, 255, 255, 255, 255, 255, 255], 8);
  assert.match(refused(huge) ?? "", /a count of 18446744073709551615/);
});

Deno.test("a key or a tensor that comes twice is refused", () => {
  const twice = header({
    entryCount: 2,
    rest: (to) => {
      for (let n = 0; n < 2; n++) {
        to.text("a");
        to.u32(4);
        to.u32(1);
      }
    },
  });
  assert.match(refused(twice) ?? "", /"a" comes twice/);
});
