/** The closed lists of words that facts are read by. English first; the commonest negations of some others. @module */

function words(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/));
}

/** Carry no part of what is said. */
export const STOP = words(`
  a an the is are was were be been being am has have had having do does did will shall this that these those its it
  their his her our your my they he she we you i of to in on at for by with as and also very just exactly precisely
  currently now then there here which who whom so s total overall about around always still already today simply
  each every all any both per der die das ein eine ist sind war le la les un une est sont el los las es son
`);

/** Turn a statement into its opposite. */
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

/** A claim that says one of these is an example or a guess, not a statement. */
export const HYPOTHETICAL = words(
  `example examples e.g instance suppose imagine hypothetically allegedly reportedly`,
);

/** Word order decides who does what to whom. */
export const DIRECTIONAL = words(`from than into between against over under`);

/** The number after one of these is a name: `step 3`, `port 80`. */
export const NAMERS = words(`
  version chapter section step figure page line port rfc iso issue level phase type class group table part rule item
  number no nr article appendix note option mode tier stage round season episode volume series release revision model
  room gate track route highway building floor node host server worker thread shard region zone slot case test question
  exercise problem example build ticket bug pr commit day week
`);

/** A number without a unit is a value after one of these. */
export const COPULAS = words(
  `is are was were be equals equal of to : = at remains remain became becomes`,
);

/** What happens once, so that two dates for it cannot both be right. */
export const ONCE = words(`
  releas publish found born die dead launch creat introduc establish open clos start begin began end expir invent discover
  adopt due deadlin schedul sign deprecat remov retir complet finish abolish incorporat happen occur date ratifi enact
  birthday anniversary finaliz begun land arriv leav left depart deliver mov join hire renew pay paid
  valid effect elect appoint built build visit meet met inaugurat sold buy bought merg acquir migrat upgrad
`);

/** What happens again and again. */
export const OFTEN = words(`
  daily weekly monthly yearly annual annually quarterly regular regularly usual usually repeat recurring often day week
  month year quarter
`);

/** One word for several, by stem. */
export const SAME: Readonly<Record<string, string>> = Object.freeze({
  max: "maximum",
  min: "minimum",
  permit: "allow",
  need: "requir",
  mandatory: "requir",
  includ: "contain",
  compris: "contain",
  begin: "start",
  began: "start",
  begun: "start",
  commenc: "start",
  finish: "end",
  terminat: "end",
  delet: "remov",
  establish: "found",
  publish: "releas",
  launch: "releas",
  ship: "releas",
  tak: "last",
  took: "last",
  mak: "creat",
  made: "creat",
  author: "writ",
  wrote: "writ",
  written: "writ",
});

/** One word for the opposite of another, by stem: the statement is negated and says the other. */
export const OPPOSITE: Readonly<Record<string, string>> = Object.freeze({
  disabl: "enabl",
  forbid: "allow",
  forbidden: "allow",
  prohibit: "allow",
  disallow: "allow",
  fals: "true",
  invalid: "valid",
  impossibl: "possibl",
  unavailabl: "availabl",
  unsupport: "support",
  hidden: "visibl",
  invisibl: "visibl",
  immutabl: "mutabl",
  unencrypt: "encrypt",
  unsign: "sign",
  unstabl: "stabl",
  unknown: "known",
  unsaf: "saf",
  optional: "requir",
  fail: "succe",
  reject: "accept",
  offlin: "onlin",
  asynchronou: "synchronou",
  alive: "dead",
  absent: "present",
  decreas: "increas",
  slower: "faster",
  smaller: "larger",
  lower: "higher",
  cheaper: "dearer",
  shorter: "longer",
  exclud: "contain",
  inactiv: "activ",
  incompatibl: "compatibl",
  insensitiv: "sensitiv",
  deni: "allow",
});
