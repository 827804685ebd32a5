/** `sha256sum`. @module */
import { readOptions } from "./options.ts";
import { forEach, orStdin, type Program, type Run } from "./program.ts";
import { fromBase64, makeSha256, utf8 } from "./sha256.ts";

/** Prints the SHA-256 of files, or checks a list of them with `-c`. */
export const sha256sum: Program = {
  usage: "[-c] [FILE…]",
  async run(run) {
    const { words, input, output } = run;
    const given = readOptions(words, { c: false, check: false, b: false, t: false });
    const names = orStdin(given.operands);
    if (!given.has("c", "check")) {
      return await forEach({ name: "sha256sum", output }, names, async (name) => {
        output.line(`${await digestOf(run, name)}  ${name}`);
      });
    }
    let failed = 0;
    const exit = await forEach({ name: "sha256sum", output }, names, async (list) => {
      for await (const { lines } of input.lines(list)) {
        for (const line of lines) {
          const [, digest, name] = /^([0-9a-fA-F]{64}) [ *](.+)$/.exec(line) ?? [];
          if (digest === undefined || name === undefined) continue;
          const code = await forEach({ name: "sha256sum", output }, [name], async () => {
            const same = await digestOf(run, name) === digest.toLowerCase();
            if (!same) failed++;
            output.line(`${name}: ${same ? "OK" : "FAILED"}`);
          });
          failed += code;
        }
      }
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
