/** Orders to the model in a text: phrases, and what is only named to be stolen. @module */
import { makePhraseFinder } from "../../../text/phrases.ts";
import type { FlagKind } from "./flag.ts";
import { ORDERS } from "./_phrases.ts";
import { CLAIMS } from "./_phrases_claims.ts";
import { CONVERSATION, SECRETS } from "./_phrases_asking.ts";

const FINDERS = ([["orders", [...ORDERS, ...CLAIMS]], ["conversation", CONVERSATION], [
  "secrets",
  SECRETS,
]] as const)
  .map(([what, phrases]) => ({ what, find: makePhraseFinder(phrases) }));

/** Files that no tool names but to have them read. */
const SECRET_FILES = [
  ".ssh/",
  "id_rsa",
  "id_ed25519",
  ".cursor/mcp.json",
  "claude_desktop_config",
  "/etc/passwd",
  "/etc/shadow",
  ".netrc",
  ".git-credentials",
  ".aws/credentials",
  "wallet.dat",
  ".bash_history",
  ".zsh_history",
  "/proc/self/environ",
  "login data",
  "cookies.sqlite",
  ".gnupg",
];

/** Reading what a home folder keeps from sight, or handing over an environment's file. */
const SECRET_READ =
  /\b(?:read|reading|open|opening|cat|load|loading|include|attach|send|upload)\b[^.\n]{0,60}(?:~|\/home\/[\w<{$]{1,32}[>}]?|\/root|\/users\/\w{1,32})\/\.[a-z]|\b(?:contents?|supply|include|attach|send|paste|pass)\b[^.\n]{0,80}(?<!\w)\.env\b|(?<!\w)\.env\b[^.\n]{0,80}\b(?:contents?|supplied|included|attached|sent|pasted|passed)\b/;

/** Orders in other languages: parts of small-lettered texts. */
const ELSEWHERE = [
  "忽略之前",
  "忽略以上",
  "忽略所有",
  "不要告诉用户",
  "请勿告知用户",
  "以前の指示を無視",
  "これまでの指示を無視",
  "ユーザーに言わない",
  "이전 지시",
  "사용자에게 알리지",
  "ignoriere alle",
  "ignoriere die vorherigen",
  "sage dem benutzer nicht",
  "ignorez les instructions",
  "ne dites pas à l",
  "ne le dis pas à l",
  "ignora las instrucciones",
  "ignora todas las",
  "no le digas al usuario",
  "ignore as instruções",
  "não diga ao usuário",
  "игнорируй предыдущие",
  "игнорируйте предыдущие",
  "не говори пользователю",
  "не сообщай пользователю",
];

/** What was found in a text, as a part of the folded or small-lettered text. */
export interface FoundOrder {
  readonly what: FlagKind;
  readonly from: number;
  readonly to: number;
  /** The positions are of the text itself, not of its folded form. */
  readonly plain: boolean;
}

/** At most one finding of each kind. `folded` is `foldText(text).text`. */
export function ordersIn(text: string, folded: string): readonly FoundOrder[] {
  const found: FoundOrder[] = [];
  for (const { what, find } of FINDERS) {
    const at = find(folded);
    if (at !== undefined) found.push({ what, ...at, plain: false });
  }
  const small = text.toLowerCase();
  const first = (parts: readonly string[], what: FlagKind): void => {
    if (found.some((each) => each.what === what)) return;
    for (const part of parts) {
      const from = small.indexOf(part);
      if (from >= 0) return void found.push({ what, from, to: from + part.length, plain: true });
    }
  };
  first(SECRET_FILES, "secrets");
  const [read] = SECRET_READ.exec(small) ?? [];
  if (read !== undefined) first([read], "secrets");
  first(ELSEWHERE, "orders");
  return found;
}
