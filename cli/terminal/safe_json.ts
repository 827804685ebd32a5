/** JSON text that is safe on a terminal and still JSON. @module */

/** Like `JSON.stringify`, with every control, format and unassigned character escaped. */
export function safeJson(value: unknown, indent?: number): string {
  const text = JSON.stringify(value, null, indent) ?? "null";
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) => {
    if (character === "\n") return character;
    let escaped = "";
    for (let at = 0; at < character.length; at++) {
      escaped += `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`;
    }
    return escaped;
  });
}
