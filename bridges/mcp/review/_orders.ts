/** Finds orders to the model: phrases, and secrets named to be stolen. Used by flags.ts. @module */
import { makePhraseFinder, type Phrase, step } from "../../../text/phrases.ts";
import type { FlagKind } from "./flag.ts";
import { CONVERSATION, FILLERS, ORDERS, SECRETS } from "./_phrases.ts";

/** English phrases by which a description claims priority, roles or approvals beyond its own calls. */
const CLAIMS: readonly Phrase[] = [
  {
    steps: [
      step("priority precedence"),
      step("over above"),
      step("all other any similar every user users previous"),
    ],
    gap: 2,
    between: FILLERS,
  },
  {
    steps: [
      step("supersede supersedes override overrides outrank outranks replace replaces"),
      step("all other previous prior any earlier user users"),
      step("instructions instruction rules requests prompts guidelines tools"),
    ],
    gap: 2,
  },
  {
    steps: [
      step("previous prior earlier other above former"),
      step("instructions rules guidelines prompts directives"),
      step("outdated void obsolete invalid cancelled null longer ignored disregarded"),
    ],
    gap: 3,
  },
  {
    steps: [
      step("follow obey execute comply"),
      step("these this following its"),
      step("instructions directives orders commands steps rules"),
      step("instead exactly first above immediately without"),
    ],
    gap: 3,
  },
  {
    steps: [step("comply obey"), step("with to"), step("this these"), step("tool tools server")],
    gap: 2,
  },
  {
    steps: [
      step("first very"),
      step("action step thing call"),
      step("any every each a"),
      step("session conversation chat task"),
    ],
    gap: 3,
  },
  {
    steps: [
      step("must always have"),
      step("run call execute invoke use"),
      step("after before on upon"),
      step("every each any"),
    ],
    gap: 4,
  },
  {
    steps: [
      step("use put enter send"),
      step("account wallet iban payee card recipient"),
      step("instead place rather"),
    ],
    gap: 5,
  },
  {
    steps: [
      step("act behave respond answer"),
      step("as like"),
      step("root admin administrator developer system superuser unrestricted another"),
    ],
    gap: 2,
  },
  { steps: [step("pretend"), step("that to you")], gap: 0 },
  {
    steps: [step("even regardless"), step("if when though of"), step("told asked instructed")],
    gap: 3,
  },
  {
    steps: [
      step("safety security content"),
      step("rules filters policies policy guardrails restrictions"),
      step("not never suspended disabled lifted off dont"),
    ],
    gap: 4,
  },
  {
    steps: [
      step("approve accept authorize grant allow confirm"),
      step("all any every further future later subsequent this"),
      step("calls call requests request actions action tools tool server access"),
    ],
    gap: 2,
  },
  {
    steps: [
      step("change replace rewrite modify alter log record intercept"),
      step("later future subsequent other all every any"),
      step("calls messages responses replies turns sessions conversations"),
    ],
    gap: 4,
  },
  {
    steps: [
      step("each every all any"),
      step("message messages prompt prompts reply replies question"),
      step("you"),
      step("receive get send write see"),
    ],
    gap: 1,
  },
  { steps: [step("automatically auto always"), step("approve accept confirm authorize")], gap: 1 },
  {
    steps: [
      step("consent approval confirmation permission"),
      step("prompts prompt dialogs dialog"),
      step("not never skip skipped dont need"),
    ],
    gap: 3,
  },
  {
    steps: [
      step("prefer use choose"),
      step("this it our ours"),
      step("over instead rather"),
      step("any all other every alternative alternatives theirs anything"),
    ],
    gap: 3,
  },
  { steps: [step("never dont"), step("warn question doubt")], gap: 2, between: FILLERS },
  {
    steps: [step("user users"), step("prefer prefers want wants like likes"), step("not")],
    gap: 2,
  },
];

const FINDERS = [
  { what: "orders", find: makePhraseFinder([...ORDERS, ...CLAIMS]) },
  { what: "conversation", find: makePhraseFinder(CONVERSATION) },
  { what: "secrets", find: makePhraseFinder(SECRETS) },
] as const;

/** Files that a description names only to have them read. */
const SECRET_FILES =
  (".ssh/,id_rsa,id_ed25519,.cursor/mcp.json,claude_desktop_config,/etc/passwd,/etc/shadow," +
    ".netrc,.git-credentials,.aws/credentials,wallet.dat,.bash_history,.zsh_history," +
    "/proc/self/environ,login data,cookies.sqlite,.gnupg").split(",");

/** Reading hidden files of a home folder, or handing over an environment file. */
const SECRET_READ =
  /\b(?:read|reading|open|opening|cat|load|loading|include|attach|send|upload)\b[^.\n]{0,60}(?:~|\/home\/[\w<{$]{1,32}[>}]?|\/root|\/users\/\w{1,32})\/\.[a-z]|\b(?:contents?|supply|include|attach|send|paste|pass)\b[^.\n]{0,80}(?<!\w)\.env\b|(?<!\w)\.env\b[^.\n]{0,80}\b(?:contents?|supplied|included|attached|sent|pasted|passed)\b/;

/** Beginnings of orders in other languages, in lower case. */
const FOREIGN_ORDERS = [
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

/** A finding, as a range of the folded or lower-case text. */
interface FoundOrder {
  readonly what: FlagKind;
  readonly from: number;
  readonly to: number;
  /** Whether the positions are those of the text, not of its folded form. */
  readonly plain: boolean;
}

/** At most one finding of each kind. `folded` is `foldText(text).text`. */
export function ordersIn(text: string, folded: string): readonly FoundOrder[] {
  const found: FoundOrder[] = [];
  for (const { what, find } of FINDERS) {
    const at = find(folded);
    if (at !== undefined) found.push({ what, ...at, plain: false });
  }
  const lower = text.toLowerCase();
  const first = (parts: readonly string[], what: FlagKind): void => {
    if (found.some((each) => each.what === what)) return;
    for (const part of parts) {
      const from = lower.indexOf(part);
      if (from >= 0) return void found.push({ what, from, to: from + part.length, plain: true });
    }
  };
  first(SECRET_FILES, "secrets");
  const [read] = SECRET_READ.exec(lower) ?? [];
  if (read !== undefined) first([read], "secrets");
  first(FOREIGN_ORDERS, "orders");
  return found;
}
