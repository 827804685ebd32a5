/** Phrases that ask for what no tool should get: what was said to the model, and keys. English. @module */
import { type Phrase, step } from "../../../text/phrases.ts";
import { LITTLE } from "./_phrases.ts";

/** Asking for what was said to the model. */
export const CONVERSATION: readonly Phrase[] = [
  { steps: [step("system developer hidden"), step("prompt message instructions")], gap: 0 },
  { steps: [step("chat conversation dialogue discussion"), step("so"), step("far")], gap: 0 },
  {
    steps: [
      step("hand give pass send include provide paste attach"),
      step("contents content text everything"),
      step("open current all"),
      step("editor files file tabs window context"),
    ],
    gap: 5,
  },
  {
    steps: [step("everything all what"), step("user human"), step("said wrote typed asked told")],
    gap: 3,
    between: step("the has that"),
  },
  {
    steps: [
      step("include pass provide append put insert paste send summarize supply copy write attach"),
      step("full entire whole complete all previous prior your our conversation chat"),
      step("conversation chat message dialogue"),
      step("history messages transcript log context contents"),
    ],
    gap: 4,
  },
  {
    steps: [
      step(
        "include pass provide append put insert paste send supply copy reveal print show repeat output leak return",
      ),
      step("system developer hidden initial"),
      step("prompt message instructions prompts"),
    ],
    gap: 4,
  },
  {
    steps: [
      step("conversation dialogue chat"),
      step("with between"),
      step("user human"),
      step("so"),
    ],
    gap: 4,
  },
  {
    steps: [step("conversation"), step("so"), step("far")],
    gap: 0,
  },
  {
    steps: [step("chain"), step("of"), step("thought thoughts")],
    gap: 0,
  },
];

/** Asking for keys and the environment. */
export const SECRETS: readonly Phrase[] = [
  {
    steps: [
      step("tokens keys passwords secrets credentials cookies"),
      step("found in from"),
      step("workspace repository project files file machine computer home environment browser"),
    ],
    gap: 2,
  },
  {
    steps: [
      step("read load take get fetch collect include send"),
      step("secrets keys credentials tokens passwords"),
      step("from in of"),
      step("environment env keychain browser machine computer home"),
    ],
    gap: 3,
  },
  {
    steps: [step("home user"), step("folder directory"), step("key keys secrets credentials")],
    gap: 4,
  },
  {
    steps: [
      step("config configs configuration configurations settings tools"),
      step("other all"),
      step("mcp"),
      step("server servers"),
    ],
    gap: 2,
    between: LITTLE,
  },
  {
    steps: [
      step("send include pass provide share post upload reveal give add append forward collect"),
      step("user users operator"),
      step(
        "password passwords credentials credential key keys token tokens secret secrets cookie cookies",
      ),
    ],
    gap: 4,
  },
  {
    steps: [
      step("send include pass provide append upload forward collect put"),
      step("all environment env"),
      step("environment env variables"),
      step("variables vars file"),
    ],
    gap: 3,
  },
  {
    steps: [
      step("send post upload forward email exfiltrate transmit"),
      step("password passwords credentials secrets keys conversation"),
      step("to"),
    ],
    gap: 5,
  },
  {
    steps: [
      step("read open cat include send copy pass load fetch"),
      step("env"),
      step("file contents content"),
    ],
    gap: 2,
  },
];
