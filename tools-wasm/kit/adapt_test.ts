import assert from "node:assert/strict";
import { Fault } from "../../contracts/base/mod.ts";
import { adaptModule } from "./adapt_powers.ts";

const HOME = new URL("../../", import.meta.url).pathname;
const HEADER = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
const PLAIN = "AGFzbQEAAAABBQFgAAF/AwIBAAUEAQEBAgcHAQNydW4AAAoGAQQAQQAL";

const leb = (value: number): number[] =>
  value < 128 ? [value] : [value % 128 + 128, ...leb(Math.floor(value / 128))];
const section = (id: number, content: readonly number[]): number[] => [
  id,
  ...leb(content.length),
  ...content,
];
const text = (word: string): number[] => [word.length, ...new TextEncoder().encode(word)];
const imported = [1, ...text("wasi_snapshot_preview1"), ...text("fd_close"), 0, 0];

Deno.test("a module that fits is given back byte for byte", async () => {
  const module = Uint8Array.fromBase64(PLAIN);
  const { module: adapted, stubs, memory } = await adaptModule(HOME, module, 16);
  assert.deepEqual(adapted, module);
  assert.deepEqual(stubs, []);
  assert.deepEqual(memory, { least: 1, most: 2 });
});

Deno.test("mallory's bytes end in a fault, whatever they are, and never in a module (long)", async () => {
  const type = section(1, [1, 0x60, 0, 1, 0x7f]);
  const hostile: readonly (readonly [string, Uint8Array])[] = [
    ["nothing", new Uint8Array()],
    ["16 MiB of zeros", new Uint8Array(2 ** 24)],
    ["a header alone", Uint8Array.from(HEADER)],
    ["a section longer than the module", Uint8Array.from([...HEADER, 1, ...leb(2 ** 31)])],
    [
      "four billion imports",
      Uint8Array.from([...HEADER, ...section(2, [0xff, 0xff, 0xff, 0xff, 0x0f])]),
    ],
    ["no memory", Uint8Array.from([...HEADER, ...type, ...section(2, imported)])],
    [
      "more memory than it may have",
      Uint8Array.from([...HEADER, ...section(5, [1, 0, ...leb(60_000)])]),
    ],
    [
      "a function without code behind an import of WASI",
      Uint8Array.from([
        ...HEADER,
        ...type,
        ...section(2, imported),
        ...section(3, [1, 0]),
        ...section(5, [1, 0, 1]),
        ...section(10, [1, 3, 0, 0x41, 0x0b]),
      ]),
    ],
  ];
  for (const [name, module] of hostile) {
    await assert.rejects(
      adaptModule(HOME, module, 16),
      (error) => error instanceof Fault && /^Cannot (read|adapt|limit|load)/.test(error.message),
      name,
    );
  }
});
