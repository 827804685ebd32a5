/** Forms of one word made alike, roughly and always the same way. @module */

const VOWEL = /[aeiouyäöüéèáíóú]/u;

/** `leases`, `leased`, `leasing` → `leas`. Words of other scripts stay as they are. */
export function stem(word: string): string {
  // Most words end in no suffix: they are known by their last letter.
  if (word.length < 4 || !"sgdey".includes(word.charAt(word.length - 1))) return word;
  if (!/^[a-z]+$/.test(word)) return word;
  let rest = word;
  if (rest.endsWith("ies") && rest.length > 4) rest = `${rest.slice(0, -3)}y`;
  else if (/(?:[sxz]|ch|sh)es$/.test(rest)) rest = rest.slice(0, -2);
  else if (rest.endsWith("s") && !/(?:ss|us|is)$/.test(rest)) rest = rest.slice(0, -1);
  for (const suffix of ["ing", "ed"]) {
    if (!rest.endsWith(suffix) || rest.endsWith("eed")) continue;
    const bare = rest.slice(0, -suffix.length);
    if (bare.length < 3 || !VOWEL.test(bare)) continue;
    rest = /([bdfgklmnprt])\1$/.test(bare) && !/(?:ll|ss)$/.test(bare) ? bare.slice(0, -1) : bare;
    break;
  }
  if (rest.endsWith("y") && rest.length > 3) return `${rest.slice(0, -1)}i`;
  return rest.endsWith("e") && rest.length > 3 ? rest.slice(0, -1) : rest;
}
