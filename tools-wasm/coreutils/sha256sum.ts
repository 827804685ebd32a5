/** `sha256sum`. @module */
import { FileError } from "./faults.ts";
import { readOptions } from "./options.ts";
import { forEach, orStdin, type Program, type Run } from "./program.ts";
import { fromBase64, makeSha256, utf8 } from "./sha256.ts";

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
  if (name === "-") { for await (const text of input.texts("-")) hash.update(utf8(text)); }
  else for await (const piece of input.base64(name)) hash.update(fromBase64(piece));
  return hash.digest();
}
