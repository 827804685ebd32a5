/** The plugins of these tests: WebAssembly text to modules. @module */
import binaryen from "binaryen";

/**
 * Assembles `_fixture/NAME.wat`. `(kit)` stands for kit.wat; `(text …)`, alone on its line except for
 * closing parentheses, stands for the text's position in memory and its length.
 */
export function assembleFile(name: string): Uint8Array<ArrayBuffer> {
  return assemble(Deno.readTextFileSync(new URL(`./${name}.wat`, import.meta.url)));
}

/** Assembles a text of the same form. */
export function assemble(source: string): Uint8Array<ArrayBuffer> {
  const kit = Deno.readTextFileSync(new URL("./kit.wat", import.meta.url));
  const data: string[] = [];
  let at = 1_024;
  const text = source.replace("(kit)", kit).replace(
    /\(text (.*?)\)(?=[)\s]*$)/gm,
    (_, content: string) => {
      const bytes = new TextEncoder().encode(content);
      const hex = [...bytes].map((byte) => `\\${byte.toString(16).padStart(2, "0")}`).join("");
      data.push(`(data (i32.const ${at}) "${hex}")`);
      const place = `(i32.const ${at}) (i32.const ${bytes.length})`;
      at += bytes.length;
      return place;
    },
  );
  const end = text.trimEnd().lastIndexOf(")");
  const module = binaryen.parseText(`${text.slice(0, end)}\n${data.join("\n")})`);
  try {
    module.setFeatures(binaryen.Features.All);
    return new Uint8Array(module.emitBinary());
  } finally {
    module.dispose();
  }
}
