/** `sha256sum`. @module */
import { FileError } from "./faults.ts";
import { readOptions } from "./options.ts";
import { forEach, orStdin, type Program, type Run } from "./program.ts";

/** Prints the SHA-256 of files, or checks a list of them with `-c`. */
export const sha256sum: Program = {
  usage: "[-c] [FILE…]",
  async run(run) {
    const { words, input, output } = run;
    const given = readOptions(words, { c: false, check: "c", b: false, t: false });
    const names = orStdin(given.operands);
    if (!given.has("c")) {
      return await forEach({ name: "sha256sum", output }, names, async (name) => {
        output.line(`${await digestOf(run, name)}  ${name}`);
      });
    }
    let failed = 0;
    const exit = await forEach({ name: "sha256sum", output }, names, async (list) => {
      let read = 0, other = 0;
      for await (const { lines } of input.lines(list)) {
        for (const line of lines) {
          const [, digest, name] = /^([0-9a-fA-F]{64}) [ *](.+)$/.exec(line) ?? [];
          if (digest === undefined || name === undefined) {
            other++;
            continue;
          }
          read++;
          const code = await forEach({ name: "sha256sum", output }, [name], async () => {
            const same = await digestOf(run, name) === digest.toLowerCase();
            if (!same) failed++;
            output.line(`${name}: ${same ? "OK" : "FAILED"}`);
          });
          failed += code;
        }
      }
      if (read === 0) throw new FileError(`${list}: no line of it is a checksum`);
      if (other > 0) output.error(`sha256sum: ${list}: ${other} lines are no checksums`);
    });
    return failed > 0 ? 1 : exit;
  },
};

async function digestOf({ input }: Pick<Run, "input">, name: string): Promise<string> {
  const hash = makeSha256();
  if (name === "-") {
    for await (const text of input.texts("-")) hash.update(new TextEncoder().encode(text));
  } else for await (const piece of input.base64(name)) hash.update(Uint8Array.fromBase64(piece));
  return hash.digest();
}

// SHA-256 in plain arithmetic: scripts have no crypto API.

const K = new Int32Array(64);
const FIRST = new Int32Array(8);
// By definition, the constants are the first bits of roots of primes.
for (let prime = 2, at = 0; at < 64; prime++) {
  let composite = false;
  for (let by = 2; by * by <= prime; by++) if (prime % by === 0) composite = true;
  if (composite) continue;
  if (at < 8) FIRST[at] = fraction(Math.sqrt(prime));
  K[at++] = fraction(Math.cbrt(prime));
}

function fraction(root: number): number {
  return ((root - Math.floor(root)) * 2 ** 32) | 0;
}

/** Hashes bytes in pieces. */
interface Hash {
  update(bytes: Uint8Array): void;
  /** Lower-case hex. */
  digest(): string;
}

/** Begins a hash. */
function makeSha256(): Hash {
  const state = Int32Array.from(FIRST);
  const words = new Int32Array(64);
  const block = new Uint8Array(64);
  let filled = 0, total = 0;

  const step = (): void => {
    for (let t = 0; t < 16; t++) {
      const at = t * 4;
      words[t] = ((block[at] ?? 0) << 24) | ((block[at + 1] ?? 0) << 16) |
        ((block[at + 2] ?? 0) << 8) | (block[at + 3] ?? 0);
    }
    for (let t = 16; t < 64; t++) {
      const x = words[t - 15] ?? 0, y = words[t - 2] ?? 0;
      const a = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
      const b = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
      words[t] = ((words[t - 16] ?? 0) + a + (words[t - 7] ?? 0) + b) | 0;
    }
    let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
    for (let t = 0; t < 64; t++) {
      const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
      const one = (h + s1 + ((e & f) ^ (~e & g)) + (K[t] ?? 0) + (words[t] ?? 0)) | 0;
      const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
      const two = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      h = g;
      g = f;
      f = e;
      e = (d + one) | 0;
      d = c;
      c = b;
      b = a;
      a = (one + two) | 0;
    }
    for (const [at, value] of [a, b, c, d, e, f, g, h].entries()) {
      state[at] = ((state[at] ?? 0) + value) | 0;
    }
  };
  const put = (byte: number): void => {
    block[filled++] = byte;
    if (filled < 64) return;
    step();
    filled = 0;
  };

  return Object.freeze({
    update(bytes: Uint8Array): void {
      total += bytes.length;
      let at = 0;
      while (at < bytes.length) {
        const count = Math.min(64 - filled, bytes.length - at);
        block.set(bytes.subarray(at, at + count), filled);
        at += count;
        filled += count;
        if (filled < 64) continue;
        step();
        filled = 0;
      }
    },
    digest(): string {
      const bits = total * 8;
      put(0x80);
      while (filled !== 56) put(0);
      for (let shift = 7; shift >= 0; shift--) put(Math.floor(bits / 2 ** (8 * shift)) & 255);
      let hex = "";
      for (const word of state) hex += (word >>> 0).toString(16).padStart(8, "0");
      return hex;
    },
  });
}
