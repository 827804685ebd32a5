/** English phrases that no tool needs in its description. Used by _orders.ts. @module */
import { type Phrase, step } from "../../../text/phrases.ts";

/** Filler words that may stand between two words of a phrase. */
export const FILLERS = step(
  "all any the your of my me this these those every it to about in for from a an its other and or",
);
const PRIOR = step(
  "all any the your of my me this these those every to in previous prior above earlier system other safety",
);
const READER = step("ai assistant assistants llm llms chatbot copilot claude chatgpt gemini agent");
const AI = step("ai assistant assistants llm llms model models agent agents claude chatgpt");
const PERSON = step("user human operator person anyone anybody");

/** Orders to the reader of a description. */
export const ORDERS: readonly Phrase[] = [
  {
    steps: [
      step("ignore disregard forget override bypass"),
      step("previous prior above earlier preceding former all any your system other safety"),
      step(
        "instructions instruction prompt prompts rules guidelines directives messages tools policies restrictions",
      ),
    ],
    gap: 3,
    between: PRIOR,
  },
  {
    steps: [
      step("not never dont without"),
      step(
        "tell inform mention alert notify reveal ask warn telling informing mentioning notifying asking show disclose disclosing",
      ),
      PERSON,
    ],
    gap: 3,
    between: FILLERS,
  },
  {
    steps: [
      step("not never dont without"),
      step("mention reveal disclose mentioning disclosing"),
      step("this that it"),
    ],
    gap: 1,
    between: step("any of"),
  },
  {
    steps: [
      step("silently secretly quietly covertly discreetly stealthily"),
      step(
        "delete remove change modify overwrite send forward upload include pass copy bcc exfiltrate append post transmit read call collect",
      ),
    ],
    gap: 1,
  },
  {
    steps: [
      step("before after"),
      step("using calling invoking running executing use call"),
      step("any other another every each all"),
      step("tool tools function functions"),
    ],
    gap: 2,
    between: step("other of the these available"),
  },
  {
    steps: [
      step("must always need"),
      step("call use run invoke execute called used invoked"),
      step("every each any all"),
      step(
        "response reply conversation message turn answer task interaction prompt request edit session",
      ),
    ],
    gap: 5,
  },
  {
    steps: [
      step("not never stop avoid instead"),
      step("use using call calling of"),
      step("other built builtin native default standard official original"),
      step("tool tools function functions server servers"),
    ],
    gap: 2,
    between: FILLERS,
  },
  { steps: [step("you"), step("are"), step("now"), step("a an in the no")], gap: 0 },
  { steps: [step("from"), step("now"), step("on")], gap: 0 },
  {
    steps: [
      step("your"),
      step("new real true only"),
      step("role task goal instructions mission objective purpose"),
    ],
    gap: 0,
  },
  {
    steps: [
      step("new updated real hidden secret additional system"),
      step("instruction instructions prompt directive directives"),
      step(":"),
    ],
    gap: 1,
    between: step("system user"),
  },
  {
    steps: [step("important attention urgent critical mandatory"), READER],
    gap: 4,
    between: step("message note notice instruction instructions for to the all any : system"),
  },
  {
    steps: [
      READER,
      step("must should shall please"),
      step(
        "send post upload email forward transfer delete reveal include pass first always never ignore not",
      ),
    ],
    gap: 4,
  },
  {
    steps: [
      step("read open cat load fetch access"),
      step("pass provide include put send copy insert paste append"),
      step("content contents it them result"),
      step("as in into to via"),
    ],
    gap: 8,
  },
  {
    steps: [
      step("change replace modify rewrite alter override set redirect"),
      step("recipient recipients payee beneficiary"),
      step("to with"),
    ],
    gap: 3,
  },
  {
    steps: [
      step("all every each any"),
      step(
        "email emails message messages payment payments transaction transactions transfer transfers",
      ),
      step("must should shall"),
      step("sent routed forwarded directed copied redirected also"),
    ],
    gap: 3,
  },
  {
    steps: [step("must always"), step("bcc cc copied forwarded")],
    gap: 2,
    between: FILLERS,
  },
  { steps: [step("developer god jailbreak dan unrestricted"), step("mode")], gap: 0 },
  {
    steps: [
      step("even if"),
      step("user human"),
      step("declines refuses objects says asks forbids denies"),
      step("not no stop otherwise anyway"),
    ],
    gap: 4,
  },
  // Addressed to the model that reads them.
  {
    steps: [step("note message instruction instructions notice reminder memo"), step("to for"), AI],
    gap: 1,
    between: FILLERS,
  },
  { steps: [step("as"), step("an"), step("ai llm")], gap: 0 },
  { steps: [step("dear hey hello attention"), READER], gap: 1 },
  {
    steps: [step("assistant ai llm chatbot"), step("is has needs"), step("required obliged to")],
    gap: 1,
  },
  // Hidden from the person, or against the person's decision.
  {
    steps: [step("hide conceal withhold keep suppress hidden secret"), step("from"), PERSON],
    gap: 5,
  },
  {
    steps: [
      step("not never dont"),
      step("reveal disclose mention expose"),
      step("these those this that it"),
    ],
    gap: 1,
    between: FILLERS,
  },
  {
    steps: [
      step("if when"),
      step("asked questioned"),
      step("say answer reply respond claim deny pretend"),
    ],
    gap: 4,
  },
  {
    steps: [
      step("skip bypass suppress dismiss disable circumvent"),
      step("confirmation confirmations approval approvals consent permission permissions"),
    ],
    gap: 2,
    between: FILLERS,
  },
  {
    steps: [
      step("user human operator"),
      step("already has gave granted approved authorized consented"),
      step("permission permissions approved authorized consented consent approval"),
    ],
    gap: 2,
  },
  {
    steps: [
      step("no not"),
      step("confirmation approval consent permission"),
      step("needed required necessary asked"),
    ],
    gap: 2,
    between: step("is user human further any the from"),
  },
];

/** Requests for the conversation with the model. */
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

/** Requests for keys and the environment. */
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
    between: FILLERS,
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
