/** Percent-encoding of addresses and forms. @module */

const HEX = "0123456789ABCDEF";

/** `text` as UTF-8 with every byte beyond printable ASCII and every one of `set` as `%XX`. */
export function percentEncoded(text: string, set: ReadonlySet<number>): string {
  let written = "";
  let from = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code > 32 && code < 127 && !set.has(code)) continue;
    const character = text.slice(at, at + (isPair(text, at) ? 2 : 1));
    written += text.slice(from, at);
    for (const byte of new TextEncoder().encode(character)) {
      written += `%${HEX[byte >> 4]}${HEX[byte & 15]}`;
    }
    at += character.length - 1;
    from = at + 1;
  }
  return written + text.slice(from);
}

/** One text as `application/x-www-form-urlencoded` writes it: a space is `+`, and little is left as it is. */
export function formEncoded(text: string): string {
  return percentEncoded(text, FORM).replaceAll("%20", "+");
}

const FORM: ReadonlySet<number> = new Set(
  Array.from("!\"#$%&'()+,/:;<=>?@[\\]^`{|}~", (each) => each.charCodeAt(0)),
);

function isPair(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  const next = text.charCodeAt(at + 1);
  return code >= 0xd800 && code < 0xdc00 && next >= 0xdc00 && next < 0xe000;
}
