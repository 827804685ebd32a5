/** Forms of English words that no rule of endings finds. @module */

/** A base form, and after the colon its other forms. */
const TEXT = `go:went gone|buy:bought|bring:brought|think:thought|teach:taught|catch:caught
fight:fought|seek:sought|feel:felt|keep:kept|sleep:slept|leave:left|lose:lost|meet:met|pay:paid
say:said|send:sent|spend:spent|lend:lent|build:built|sell:sold|tell:told|hold:held|stand:stood
understand:understood|win:won|run:ran|begin:began begun|drink:drank drunk|sing:sang sung
swim:swam swum|ring:rang|sink:sank sunk|eat:ate eaten|give:gave given|take:took taken
write:wrote written|drive:drove driven|ride:rode ridden|rise:rose risen|speak:spoke spoken
break:broke broken|choose:chose chosen|freeze:froze frozen|steal:stole stolen|wear:wore worn
tear:tore torn|fly:flew flown|grow:grew grown|know:knew known|throw:threw thrown|blow:blew blown
draw:drew drawn|see:saw seen|fall:fell fallen|come:came|become:became|forget:forgot forgotten
get:got gotten|make:made|hear:heard|man:men|woman:women|child:children|foot:feet|tooth:teeth
goose:geese|mouse:mice|louse:lice|life:lives|wife:wives|knife:knives|leaf:leaves|loaf:loaves
shelf:shelves|wolf:wolves|half:halves|thief:thieves|calf:calves|good:better best|bad:worse worst
bite:bit bitten|hide:hid hidden|lay:laid|lie:lain lying|lead:led|breed:bred|feed:fed|shoot:shot
sit:sat|stick:stuck|strike:struck|sweep:swept|weep:wept|hang:hung|dig:dug|deal:dealt|mean:meant
bend:bent|burn:burnt|learn:learnt|dream:dreamt|wake:woke woken|shake:shook shaken|beat:beaten
bind:bound|find:found|flee:fled|slide:slid|spin:spun|spring:sprang sprung|swear:swore sworn
bleed:bled|shine:shone|shrink:shrank shrunk|rot:rotten|die:dying|tie:tying|sew:sewn|show:shown
swell:swollen|forgive:forgave forgiven|forbid:forbade forbidden|arise:arose arisen
bear:bore borne|cling:clung|creep:crept|fling:flung|grind:ground|kneel:knelt|leap:leapt
mislead:misled|mistake:mistook mistaken|overcome:overcame|sling:slung|spill:spilt|spit:spat
stink:stank stunk|sting:stung|stride:strode|strive:strove|swing:swung|tread:trod trodden
undergo:underwent|weave:wove woven|wind:wound|withdraw:withdrew withdrawn|wring:wrung
criterion:criteria|phenomenon:phenomena|crisis:crises|analysis:analyses|basis:bases
diagnosis:diagnoses|thesis:theses|index:indices|matrix:matrices|vertex:vertices|ox:oxen`;

/** Form → base form. */
export const IRREGULAR: ReadonlyMap<string, string> = new Map(
  TEXT.split(/[|\n]/).flatMap((entry) => {
    const [base = "", forms = ""] = entry.split(":");
    return forms.split(" ").map((form): [string, string] => [form, base]);
  }),
);
