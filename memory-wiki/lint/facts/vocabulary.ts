/** Closed word lists for facts: English, and the most common negations of some other languages. @module */
import { stemOf } from "../../search/stem.ts";

function words(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/));
}

function stems(text: string): ReadonlySet<string> {
  return new Set([...words(text)].map(stemOf));
}

function byStem(table: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.freeze(
    Object.fromEntries(Object.entries(table).map(([key, word]) => [stemOf(key), stemOf(word)])),
  );
}

/** Words without meaning of their own. */
export const STOP = words(`
  a an the is are was were be been being am has have had having do does did will shall this that these those its it
  their his her our your my they he she we you i of to in on at for by with as and also very just exactly precisely
  currently now then there here which who whom so s total overall about around always still already today simply
  each every all any both per der die das ein eine ist sind war le la les un une est sont el los las es son
`);

/** Negations. */
export const NEGATIONS = words(`
  not no never cannot nor neither none nobody nothing nowhere isn't aren't wasn't weren't don't doesn't didn't won't
  can't couldn't shouldn't wouldn't hasn't haven't hadn't mustn't nicht kein keine keinen nie niemals pas jamais nunca
  不 没 未 無 无 非
`);

/** With one of these, a statement and its negation may both be true. */
export const QUANTIFIERS = words(`
  some many most few several often sometimes usually rarely seldom partially partly mostly might could would should
  hardly barely generally typically occasionally another other certain manche einige oft
`);

/** Marks of examples and conjectures, which state nothing. */
export const HYPOTHETICAL = words(
  `example examples e.g instance suppose imagine hypothetically allegedly reportedly`,
);

/** Words with which word order decides who does what to whom. */
export const DIRECTIONAL = words(`from than into between against over under`);

/** Words whose following number is a name: `step 3`, `port 80`. */
export const NAMERS = words(`
  version chapter section step figure page line port rfc iso issue level phase type class group table part rule item
  number no nr article appendix note option mode tier stage round season episode volume series release revision model
  room gate track route highway building floor node host server worker thread shard region zone slot case test question
  exercise problem example build ticket bug pr commit day week
`);

/** Words after which a number without a unit is a value. */
export const COPULAS = words(
  `is are was were be equals equal of to : = at remains remain became becomes`,
);

/** Events that happen once, so that two dates contradict each other. */
export const ONCE = stems(`
  release publish found born die dead launch create introduce establish open close start begin began end expire invent discover
  adopt due deadline schedule sign deprecate remove retire complete finish abolish incorporate happen occur date ratify enact
  birthday anniversary finalize begun land arrive leave left depart deliver move join hire renew pay paid
  valid effect elect appoint built build visit meet met inaugurate sold buy bought merge acquire migrate upgrade
`);

/** Marks of recurring events. */
export const OFTEN = stems(`
  daily weekly monthly yearly annual annually quarterly regular regularly usual usually repeat recurring often day week
  month year quarter
`);

/** Synonyms, by stem. */
export const SAME: Readonly<Record<string, string>> = byStem({
  max: "maximum",
  min: "minimum",
  permit: "allow",
  need: "require",
  mandatory: "require",
  include: "contain",
  comprise: "contain",
  begin: "start",
  began: "start",
  begun: "start",
  commence: "start",
  finish: "end",
  terminate: "end",
  delete: "remove",
  establish: "found",
  publish: "release",
  launch: "release",
  ship: "release",
  take: "last",
  took: "last",
  make: "create",
  made: "create",
  author: "write",
  wrote: "write",
  written: "write",
});

/** Antonyms, by stem: the statement is negated and the antonym used. */
export const OPPOSITE: Readonly<Record<string, string>> = byStem({
  disable: "enable",
  forbid: "allow",
  forbidden: "allow",
  prohibit: "allow",
  disallow: "allow",
  false: "true",
  invalid: "valid",
  impossible: "possible",
  unavailable: "available",
  unsupport: "support",
  hidden: "visible",
  invisible: "visible",
  immutable: "mutable",
  unencrypt: "encrypt",
  unsign: "sign",
  unstable: "stable",
  unknown: "known",
  unsafe: "safe",
  optional: "require",
  fail: "succeed",
  reject: "accept",
  offline: "online",
  asynchronous: "synchronous",
  alive: "dead",
  absent: "present",
  decrease: "increase",
  slower: "faster",
  smaller: "larger",
  lower: "higher",
  cheaper: "dearer",
  shorter: "longer",
  exclude: "contain",
  inactive: "active",
  incompatible: "compatible",
  insensitive: "sensitive",
  deny: "allow",
});
