import assert from "node:assert/strict";
import fc from "fast-check";
import { Fault } from "../../contracts/base/fault.ts";
import { boundedBody, eventsOf } from "./answer/body.ts";
import { inPieces, makeByteScrub, makeStreamText, scrubFault, scrubText } from "./redact/scrub.ts";
import { secretsOf } from "./open_endpoint.ts";

const SECRET = "sk-aaab-aaac-aaaa";

/** `bytes` cut at `cuts`. */
function cutUp(bytes: Uint8Array<ArrayBuffer>, cuts: readonly number[]): Uint8Array<ArrayBuffer>[] {
  const at = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].toSorted((a, b) => a - b);
  return [...at, bytes.length].map((end, n) => bytes.slice(at[n - 1] ?? 0, end));
}
async function* given<T>(items: readonly T[]): AsyncGenerator<T, void> {
  yield* items;
}
const cuts = fc.array(fc.nat(500), { maxLength: 20 });
const texts = fc.array(fc.constantFrom(SECRET, "sk-aaab-", "aaaa", "-", "日本", "👩‍🚀", "x\n"), {
  maxLength: 12,
})
  .map((parts) => parts.join(""));

Deno.test("a secret is starred wherever it was cut, and nothing else is touched", () => {
  fc.assert(
    fc.property(texts, cuts, (text, at) => {
      const want = text.replaceAll(SECRET, "*".repeat(SECRET.length));
      const scrub = makeByteScrub(secretsOf(`Bearer ${SECRET}`));
      const bytes = cutUp(new TextEncoder().encode(text), at);
      const out = [...bytes.map((each) => scrub.push(each.slice())), scrub.end()];
      assert.equal(
        new TextDecoder().decode(new Uint8Array(out.flatMap((each) => [...each]))),
        want,
      );
      const stream = makeStreamText([SECRET]);
      const units = at.map((cut) => cut % (text.length + 1)).toSorted((a, b) => a - b);
      const pieces = [...units, text.length].map((end, n) => text.slice(units[n - 1] ?? 0, end));
      assert.equal(pieces.map((each) => stream.push(each)).join("") + stream.end(), want);
    }),
    { numRuns: 1_000 },
  );
});

Deno.test("a placeholder is no secret: it may be a word", () => {
  for (const each of ["ollama", "not-needed", "lm-studio", "sk-1234"]) {
    assert.deepEqual(secretsOf(each), []);
    assert.ok(!secretsOf(`Bearer ${each}`).includes(each));
  }
  assert.ok(secretsOf("Bearer token-abc123").includes("token-abc123"), "short, and no word");
  assert.deepEqual(secretsOf(undefined), []);
  assert.equal(makeByteScrub([]).push(new Uint8Array([1])).length, 1);
});

Deno.test("a secret is starred as JSON writes it, and in the words of a fault, also where they are cut", () => {
  const odd = 'sk-"quince"\\4491/0=7';
  const secrets = secretsOf(`Api-Key ${odd}`);
  const once = JSON.stringify({ error: `no ${odd}!` });
  const twice = JSON.stringify({ arguments: JSON.stringify({ path: `a/${odd}` }) });
  for (const text of [odd, once, twice]) {
    const scrub = makeByteScrub(secrets);
    const bytes = new TextEncoder().encode(text);
    const out = new TextDecoder().decode(
      new Uint8Array(
        [...bytes].flatMap((byte) => [...scrub.push(Uint8Array.of(byte))])
          .concat([...scrub.end()]),
      ),
    );
    assert.equal(out, scrubText(text, secrets));
    assert.doesNotMatch(out, /quince|4491/);
    assert.equal(out.length, text.length);
  }
  const fault = (words: string): string => {
    const clean = scrubFault(new Fault("refused", words, { detail: { again: true } }), secrets);
    assert.ok(clean instanceof Fault && clean.detail?.["again"] === true);
    return clean.message;
  };
  assert.equal(fault(`Cannot: ${odd}.`), `Cannot: ${"*".repeat(odd.length)}.`);
  assert.equal(fault('Cannot: sk-"quin…'), `Cannot: ${"*".repeat(8)}…`);
  assert.equal(fault("Cannot: well."), "Cannot: well.");
});

Deno.test("a secret is starred as URLs, hexadecimal, base64 and JSON's numbers write it, amid other things", () => {
  const key = "sk-quince/Larder+4491=basalt~07%wren";
  const secrets = secretsOf(`Bearer ${key}`);
  const surrounded = (before: string, after: string): readonly string[] => {
    const bytes = new TextEncoder().encode(`${before}${key}${after}`);
    const whole = { k: `${before}${key}${after}` };
    return [
      bytes.toBase64(),
      bytes.toBase64({ alphabet: "base64url" }),
      bytes.toHex(),
      bytes.toHex().toUpperCase(),
      encodeURIComponent(whole.k),
      encodeURIComponent(whole.k).toLowerCase().replaceAll("larder", "Larder"),
      new URLSearchParams(whole).toString(),
      [...bytes].map((byte) => `%${byte.toString(16)}`).join(""),
      [...bytes].map((byte) => `\\u00${byte.toString(16)}`).join(""),
      JSON.stringify([...bytes].map((byte) => `\\u00${byte.toString(16)}`).join("")),
    ];
  };
  const letters = key.slice(4, -4);
  for (
    const [before, after] of [["", ""], ["Bearer ", "!"], ["a", "bc"], ["key: ", "\n"]] as const
  ) {
    const others = surrounded(before, after);
    const without = [
      ...[
        letters,
        btoa(letters),
        btoa(`a${letters}`).slice(4, -4),
        btoa(`aa${letters}`).slice(4, -4),
      ],
      ...[new TextEncoder().encode(letters).toHex(), encodeURIComponent(letters)],
    ];
    for (const [n, text] of others.entries()) {
      const stream = makeStreamText(secrets);
      const out = [...text].map((letter) => stream.push(letter)).join("") + stream.end();
      assert.equal(out.length, text.length);
      assert.ok(out.includes("****************"), `${n}: ${out}`);
      for (const form of without) {
        assert.ok(!out.toLowerCase().includes(form.toLowerCase()), `${n}: ${out}`);
      }
      const scrub = makeByteScrub(secrets);
      const bytes = [...new TextEncoder().encode(text)].flatMap((byte) => [
        ...scrub.push(Uint8Array.of(byte)),
      ]);
      assert.equal(new TextDecoder().decode(new Uint8Array([...bytes, ...scrub.end()])), out);
    }
  }
});

Deno.test("text in pieces is whole text: pairs joined, lone halves replaced", () => {
  const stream = makeStreamText();
  assert.equal(stream.push("a\ud83d"), "a");
  assert.equal(stream.push("\ude00b"), "😀b");
  assert.equal(stream.push("\ude00\ud83d"), "\ufffd");
  assert.equal(stream.end(), "\ufffd");
  fc.assert(
    fc.property(
      fc.string({ maxLength: 60, unit: "binary" }),
      fc.integer({ min: 2, max: 9 }),
      (text, most) => {
        const pieces = [...inPieces(text, most)];
        assert.equal(pieces.join(""), text);
        for (const piece of pieces) {
          assert.ok(
            piece.length <= most && (piece.isWellFormed() || !text.isWellFormed()),
          );
        }
      },
    ),
  );
});

Deno.test("events are the same however their bytes are cut, with any kind of line end", async () => {
  const wire =
    ': hello\r\nevent: a\r\ndata: {"a":"日"}\r\n\r\ndata:one\ndata: two\n\nid: 3\n\nretry\ndata\n\ndata:  last';
  await fc.assert(fc.asyncProperty(cuts, async (at) => {
    const pieces = cutUp(new TextEncoder().encode(wire), at);
    assert.deepEqual(await Array.fromAsync(eventsOf(given(pieces))), [
      '{"a":"日"}',
      "one\ntwo",
      " last",
    ]);
  }));
});

Deno.test("a body is read up to its limits and no further", async () => {
  const read = async (source: AsyncIterable<Uint8Array<ArrayBuffer>>, lineBytes?: number) => {
    let length = 0;
    let progress = 0;
    const body = boundedBody(source, {
      host: "host",
      scrub: makeByteScrub([]),
      lineBytes,
      onProgress: () => void progress++,
      onBytes: () => {},
    });
    for await (const bytes of body) length += bytes.length;
    return { length, progress };
  };
  const upstream = (error: unknown): boolean => error instanceof Fault && error.code === "upstream";
  const megabyte = new Uint8Array(1_048_576);
  let taken = 0;
  await assert.rejects(
    read((async function* () {
      for (;; taken++) yield megabyte;
    })()),
    upstream,
  );
  assert.equal(taken, 16);
  const line = (length: number) => new TextEncoder().encode(`${"x".repeat(length)}\n`);
  assert.equal((await read(given([line(5), line(9), line(3)]), 9)).length, 20);
  await assert.rejects(read(given([line(5), line(10)]), 9), upstream);
  await assert.rejects(read(given([line(5).slice(0, 5), line(5)]), 9), upstream);
  // A byte at a time without a line's end is no progress.
  assert.equal(
    (await read(given(Array.from({ length: 100 }, () => new Uint8Array(1))))).progress,
    0,
  );
  assert.equal((await read(given([line(1)]))).progress, 1);
});
