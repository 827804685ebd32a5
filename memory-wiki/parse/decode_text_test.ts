import assert from "node:assert/strict";
import { decodeText } from "./decode_text.ts";

const utf16 = (text: string, little: boolean, mark = false): Uint8Array => {
  const units = [...(mark ? "\ufeff" : ""), ...text].join("");
  const view = new DataView(new ArrayBuffer(units.length * 2));
  for (let at = 0; at < units.length; at += 1) view.setUint16(at * 2, units.charCodeAt(at), little);
  return new Uint8Array(view.buffer);
};
const latin = (text: string): Uint8Array => Uint8Array.from(text, (char) => char.charCodeAt(0));

Deno.test("text is told by its mark, by its zeros, or by being UTF-8", () => {
  const text = "The léase ends on Friday – 漢字";
  assert.equal(decodeText(new TextEncoder().encode(text), "a").text, text);
  assert.equal(decodeText(utf16(text, true, true), "a").text, text);
  assert.equal(decodeText(utf16(text, false, true), "a").text, text);
  assert.equal(decodeText(utf16("The lease ends", true), "a").encoding, "utf-16le");
  assert.equal(decodeText(utf16("The lease ends", false), "a").text, "The lease ends");
  assert.equal(decodeText(new Uint8Array(), "a").text, "");
});

Deno.test("what is no UTF-8 is read by what its letters are, and a few broken bytes in UTF-8 do not make it so", () => {
  const { text, notes } = decodeText(latin("caf\xe9 \x93quoted\x94"), "a");
  assert.equal(text, "café “quoted”");
  assert.deepEqual(notes, ["It is no UTF-8 and was read as windows-1252."]);
  const broken = new Uint8Array([...new TextEncoder().encode("ääää ööö üüü"), 0xff]);
  assert.equal(decodeText(broken, "a").text, "ääää ööö üüü\ufffd");
});

Deno.test("a document's own word counts, unless nobody knows it", () => {
  assert.equal(decodeText(latin("\xcf\xf0\xe8\xe2\xe5\xf2"), "a", "windows-1251").text, "Привет");
  assert.equal(decodeText(latin("caf\xe9"), "a", "no-such-thing").text, "café");
});

Deno.test("binary data is refused as no text", () => {
  const noise = Uint8Array.from({ length: 5_000 }, (_, at) => (at * 7_919) % 256);
  for (const bytes of [new Uint8Array(1_000), noise, latin("GIF89a\x01\0\x01\0\0\0\0;")]) {
    assert.throws(() => decodeText(bytes, "mallory.bin"), {
      code: "invalidInput",
      message: 'Cannot read "mallory.bin": it is not text',
    });
  }
});

/** `text` in an encoding of single bytes. */
function inPage(text: string, encoding: string): Uint8Array {
  const decoder = new TextDecoder(encoding);
  const codes = new Map(
    Array.from({ length: 256 }, (_, at) => [decoder.decode(Uint8Array.of(at)), at]),
  );
  return Uint8Array.from(text, (char) => codes.get(char) ?? 63);
}

const LANGUAGES: readonly (readonly [encoding: string, text: string])[] = [
  ["windows-1251", "Ключ от склада хранится у сторожа, и никто другой его не получает."],
  ["koi8-r", "Ключ от склада хранится у сторожа, и никто другой его не получает."],
  ["ibm866", "Ключ от склада хранится у сторожа."],
  ["windows-1250", "Klíč od skladu má hlídač a nikdo jiný jej nedostane, říká předpis."],
  ["windows-1250", "Klucz do magazynu ma stróż i nikt inny go nie otrzyma, chyba że później."],
  ["windows-1252", "La clé de l’entrepôt est chez le gardien ; où êtes-vous, à la fenêtre ?"],
  ["windows-1252", "El señor llegó mañana; ¿quién abrió el año pasado?"],
  ["windows-1254", "Deponun anahtarı bekçidedir, başka kimse alamaz; ışık söndü, gün doğdu."],
  ["windows-1253", "Το κλειδί της αποθήκης το έχει ο φύλακας και κανείς άλλος."],
];
for (const [encoding, text] of LANGUAGES) {
  Deno.test(`alice's old file in ${encoding} is read as what she wrote: ${text.slice(0, 12)}…`, () => {
    const read = decodeText(inPage(text, encoding), "a");
    assert.deepEqual([read.text, read.encoding], [text, encoding]);
    assert.deepEqual(read.notes, [`It is no UTF-8 and was read as ${encoding}.`]);
  });
}

Deno.test("UTF-16 without a mark is read in any script, and letters of no encoding are named", () => {
  for (const text of ["Ключ у сторожа.\n", "鍵は番人が持つ。\n次の行", "The key, 1 of 2"]) {
    assert.equal(decodeText(utf16(text, true), "a").text, text);
    assert.equal(decodeText(utf16(text, false), "a").text, text);
  }
  const odd = Uint8Array.from({ length: 400 }, (_, at) => 128 + (at * 61) % 128);
  assert.throws(() => decodeText(odd, "mallory.txt"), { message: /speak for none$/ });
});
