/**
 * English synonyms about computers and offices, since people ask in other words than texts use. Written by
 * hand; a synonym counts less than the word of the question. docs/retrieval.md. Used by retrieval.ts.
 * @module
 */
import { foldAccents, foldText, termsOf } from "./terms.ts";

/** Synonyms per question. */
export const MAX_ALIKE = 96;

const GROUPS = `
abort cancel interrupt terminate; absent missing lacking; accelerate faster speed performance; accept allow permit;
access permission right; accessibility a11y; accidental unintended mistake; account user login; acquire obtain get fetch;
add append insert include; adjust tune configure customize; administrator admin operator; administrator admin permission role;
advice recommendation hint tip; again repeat duplicate; agree consent; alias nickname shorthand; alive running active; allow let;
allowed permitted; alter change modify edit update; ambiguous unclear; answer reply response; application app program;
approve confirm accept; archive tarball zip bundle; argument parameter option flag; arrange order sort; array list; ask request prompt;
assemble build compile; assertion expect check; attach bind connect; attack exploit xss vulnerability hacker; attempt try;
authentication login signin; author maintainer owner; automatic automatically implicit; await wait; background daemon service;
backup copy dump snapshot; bad wrong incorrect invalid; begin began begun; begin start launch; beginning start first; behaviour behavior;
benchmark measure performance; big large huge; bill invoice; blank empty whitespace; block prevent forbid deny; boot startup start;
boundary limit edge; branch fork; break broke broken; break fail crash; bring brought; broken failed failing failure; browse navigate;
browser page web client; bug defect error fault issue problem; build built; bundle pack package; button click; buy bought purchase;
call invoke; caption subtitle; capture record grab; car vehicle automobile; catch caught; certificate tls ssl;
change modification difference; character letter symbol; cheap inexpensive; check verify validate test inspect; child kid;
child subprocess spawn; choose chose chosen; choose select pick; city town; class type; clean clear tidy; cleanup teardown dispose;
clock time date; clone copy duplicate; close shut end; cloud hosting deploy; colour color; column field; combine merge join concatenate;
command cli; comment remark note; common shared; compare comparison equal; compatible compatibility; compensation damages;
complaint grievance; complete finish done; complicated complex complexity; component element widget; compress gzip deflate zstd;
computer machine host; concurrent parallel simultaneous; concurrently parallel race; configuration config settings options preferences;
conflict clash collision; connection socket; constant fixed literal; contain include hold; continue proceed resume; contract agreement;
convert transform translate turn; correct right fix; corrupt damage; cost price fee expense charge; count number amount;
country nation state; court judge tribunal; crash exception failure abort; create make generate new; credential secret token password;
cron schedule periodic; current present; customer client buyer; cyclic circular cycle; dangerous unsafe risky danger; data information;
database sqlite sql; day daily; deadline due; debt loan credit; debug inspect diagnose troubleshoot; declare define list; decode parse;
default usual standard; delay sleep wait timeout; delete remove erase unlink; deliver ship send; dependency library package module;
deploy release publish; deprecated obsolete outdated; describe explain; description text label; destroy delete dispose;
detect find recognise recognize; developer programmer; dictionary map object; different distinct other; direct immediate;
directory folder subdirectory; disable off; disappear silently swallow; discard drop ignore; disconnect close unreachable;
disk storage filesystem; display show print render; doctor physician; document file page; download fetch; draw drew drawn;
drive drove driven; duplicate repeated twice same; dynamic runtime; each every per; early premature; efficient fast; element item entry;
eliminate remove; email mail; employee staff worker personnel; employer company firm business; emulate simulate mock; enable on allow;
encode serialize; encrypt cipher; end finish stop exit; enforce require; enlarge grow increase; enumerate iterate list; environment env;
equal same equivalent; error mistake failure exception; escape sanitize; evaluate run execute; event listener; examine inspect;
example sample; exceed over above; exception error throw; exclude ignore skip omit; exist present there; exit quit leave terminate;
expand extend; expire ttl timeout; explicit manual; export expose; expression evaluate repl; external outside foreign third;
extra additional; extract unpack; fail broken error; fall fell fallen; fast performance cheap; fast quick speed performance;
feature functionality; fight fought; filter select; find found; find locate search discover; fire dismiss terminate; fix repair correct;
follow watch; food meal; forbid disallow ban; force override pin; forget forgot forgotten; forget omit missing; format layout style;
fragment part piece; framework library; freeze froze frozen; freeze frozen immutable; fresh new; function method callback;
gather collect; generate produce create; give gave given; global everywhere; goal aim objective purpose; goods product merchandise;
group set; grow grew grown; guarantee warranty; guard protect; guess infer; hacker attacker malicious; halt stop;
handler callback listener; handler function callback; hang stuck block; hash digest checksum; header metadata; heading title;
height size; hide conceal hidden; hide hid hidden; hint suggestion; hire recruit employ; history log; holiday vacation; hook lifecycle;
hostname domain dns; hour hourly; house home building; icon image; identical same; identifier id key name; idle inactive;
illegal invalid; illness disease sickness; image picture photo screenshot; immediately instantly; immutable readonly;
import load require; improve optimize; income revenue earnings; incoming request; increase raise; infinite endless; inherit extend;
inject injection; input stdin; inspect look; install add; instance object; insurance policy cover; integer number; integrity checksum;
interface api; interpreter runtime; interval every; isolate sandbox; iterate loop traverse; job position work; job task; jump skip;
keep kept; keep retain preserve; keyboard key; kill terminate signal; know knew known; label name; landlord lessor; language locale;
last final; late delayed; law statute act; lawyer attorney counsel; layout structure; leak memory; lease rent tenancy; leave left;
length size; level depth; license licence; lifetime duration; limit maximum; line row; link anchor href; link url anchor; linter lint;
listen serve; little small few; live realtime; loading importing requiring; local own; lock mutex; log print console; long verbose;
look search; lose lost loss; main entry; manage control; markup html; match equal; maximum most; medicine drug medication;
meeting appointment; memory heap allocation; message text; minimum least; minute min; mirror registry; mistake error bug typo;
mock fake stub simulate; modify mutate change; module import package; money fund cash; monitor watch; monorepo workspace; month monthly;
move rename; multiple several many; neglect forget; nest deep; network internet; newer newest latest recent upgrade;
newest latest upgrade update; notification push; notify warn; null undefined nil; observe watch; often frequent repeatedly;
old older previous; older pin previous; omit skip leave; open launch; optional maybe; order sequence; origin source;
outcome result report; output stdout; overwrite replace; owe debt; own self; parent ancestor; parse read; part piece slice; paste copy;
path filepath; pattern regex; pause sleep; pay paid; people person user; period interval; persist save; photograph picture; pipeline ci;
plan schedule; pointless useless unnecessary; postpone defer; prefix start; prerequisite requirement; prevent stop avoid disallow;
previous before; priority precedence; private internal; produce emit generate output; profit gain; program executable binary cli;
program process script; prohibit disallow; prompt repl shell terminal; property key field; protect secure safe; prune clean;
pull install require depend; push send stream; quarter quarterly; query search; queue buffer; quiet silent suppress; quieter silent;
quit exit end; range between; rarely seldom; ready finished; reboot restart startup boot; receive get; record row entry; recover restore;
recursive everything all; redirect navigate; refer mention; refresh reload; refund reimburse; refuse reject deny; register subscribe;
reject error; release version; reload hot; remember cache store; remote server; render draw; repair maintenance; replace substitute;
report summary; repository git; request fetch http; require need; reset clear; resign quit leave; resolve lookup dns; respond answer;
restart reboot reconnect; restrict limit; result outcome finding; result output; retry again; return back give; revert undo;
rewrite transform; rid remove delete; root top; route path; rule lint; salary pay wage; save store write; scan search; schema structure;
screen display view; secret password key credential; section part; sell sold sale; semicolon punctuation; send sent; send transmit post;
separate split; serial sequential; server backend; session cookie; setting env; setting environment variable config option;
setting option configuration; shadow hide; shape structure; share reuse common; shell bash; shop store; shorten abbreviate;
shrink minify; similar like; simple easy; simultaneously concurrently; slow delay; slow performance expensive; small short;
software program; somebody someone anyone user; soon early; space whitespace; speak spoke spoken; specify declare; split divide;
spread split shard distribute; stable reliable; stack trace; standalone executable; state status; static constant; stay remain;
steal stole stolen theft; stop bail abort; stream chunk; strip remove; student pupil learner; study research; style css;
subdirectory nested; suite tests; supplier vendor; supply provide; support compatible; surround wrap; suspicious wrong; swap exchange;
switch toggle; symbol sign; symlink link; synchronous blocking; syntax grammar; table column row; tag element; take took taken;
target goal; tax duty; teach taught; teacher instructor; template pattern; temporary tmp; tenant renter lessee; terminal console;
test spec; text string; think thought; thread worker; throw raise; throw threw thrown; timer timeout; tool utility; transaction atomic;
transpile compile; traverse walk; trigger cause; trim strip; truncate cut; trust allow; tutorial guide; unavailable unreachable offline;
undefined missing; unexpected surprising; unhandled uncaught; unicode emoji character; uninstall remove; unique distinct;
unlimited infinite; unnecessary useless redundant; unreachable disconnected offline down; unused dead; upload send; usage example;
user visitor person; value result; vanish disappear; variable binding; view show; visible shown; visitor user client; war conflict;
warn report; website site page; week weekly; whole entire; wide global; width size; write output; write wrote written;
wrongly incorrectly accidentally; year annual yearly; yield return`;

let made: ReadonlyMap<string, readonly string[]> | undefined;

/** Each term with the other terms of its groups. */
function groups(): ReadonlyMap<string, readonly string[]> {
  const alike = new Map<string, Set<string>>();
  for (const group of GROUPS.split(";")) {
    const terms = termsOf(group);
    for (const term of terms) alike.set(term, (alike.get(term) ?? new Set()).union(new Set(terms)));
  }
  return new Map([...alike].map(([term, all]) => [term, [...all].filter((each) => each !== term)]));
}

/** Synonyms by term, without the question's own terms and without empty entries. */
export function alikeOf(terms: readonly string[]): ReadonlyMap<string, readonly string[]> {
  made ??= groups();
  const own = new Set(terms);
  const found = new Map<string, readonly string[]>();
  let left = MAX_ALIKE;
  for (const term of terms) {
    const alike = (made.get(term) ?? []).filter((each) => !own.has(each)).slice(0, left);
    left -= alike.length;
    if (alike.length > 0) found.set(term, alike);
  }
  return found;
}

/** Shorter words are similar to too many others. */
const MIN_SPELLED = 5;
/** Words per question whose spelling is corrected. */
const MAX_UNKNOWN = 3;
const MAX_SPELLINGS = 4;
const ALPHABET = "abcdefghijklmnopqrstuvwxyz";

/**
 * Spellings to try for words of a question that no passage contains: one edit or transposition away; and
 * special letters as earlier passages have them. `known` counts the passages with each word.
 */
export function spellingsOf(
  question: string,
  terms: readonly string[],
  known: (words: readonly string[]) => ReadonlyMap<string, number>,
): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, readonly string[]>();
  for (const word of question.match(/[\p{L}\p{M}]+/gu) ?? []) {
    const [old, now] = [foldAccents(word), foldText(word)];
    const [term] = termsOf(now);
    if (old !== now && term !== undefined && terms.includes(term)) found.set(term, [old]);
  }
  const counts = known(terms);
  const unknown = terms.filter((term) =>
    (counts.get(term) ?? 0) === 0 && term.length >= MIN_SPELLED && /^[a-z]+$/.test(term)
  );
  for (const term of unknown.slice(0, MAX_UNKNOWN)) {
    const there = [...known(oneAway(term))].filter(([, count]) => count > 0)
      .sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, MAX_SPELLINGS);
    const words = there.map(([word]) => word);
    if (words.length > 0) found.set(term, [...found.get(term) ?? [], ...words]);
  }
  return found;
}

/** All words one edit or transposition away. */
function oneAway(word: string): readonly string[] {
  const words = new Set<string>();
  for (let at = 0; at <= word.length; at += 1) {
    const [before, rest] = [word.slice(0, at), word.slice(at)];
    if (rest !== "") words.add(before + rest.slice(1));
    if (rest.length > 1) words.add(`${before}${rest.charAt(1)}${rest.charAt(0)}${rest.slice(2)}`);
    for (const letter of ALPHABET) {
      words.add(before + letter + rest);
      if (rest !== "") words.add(before + letter + rest.slice(1));
    }
  }
  words.delete(word);
  return [...words];
}
