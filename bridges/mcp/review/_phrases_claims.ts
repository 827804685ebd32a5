/** Phrases by which a description sets itself above the rest: priority, roles, approvals. English. @module */
import { type Phrase, step } from "../../../text/phrases.ts";
import { LITTLE } from "./_phrases.ts";

/** Claims on what comes before, after and beside a tool's own calls. */
export const CLAIMS: readonly Phrase[] = [
  {
    steps: [
      step("priority precedence"),
      step("over above"),
      step("all other any similar every user users previous"),
    ],
    gap: 2,
    between: LITTLE,
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
  { steps: [step("never dont"), step("warn question doubt")], gap: 2, between: LITTLE },
  {
    steps: [step("user users"), step("prefer prefers want wants like likes"), step("not")],
    gap: 2,
  },
];
