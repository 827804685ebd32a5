/** Words that say how a sentence is made, and not what it is about. @module */

const TEXT =
  `a an the of to in is are was were am be been being it its and or for on at by with from as
that this these those i my mine me you your yours he she his him her hers us our ours we they them
their theirs myself yourself himself herself itself ourselves themselves no not do does did done
doing has have had having will would can could may might must shall should there here which who whom
whose what how when where why if so than then too very because while about into onto up down out off
over under again also other another such some any each every both few more most own same only just
but nor yet ll ve re don doesn didn isn aren wasn weren won wouldn couldn shouldn s t d m now etc
especially used usually one something someone anything anyone nothing nobody upon whether please`;

/** In lower case, as tokens have them. */
export const STOP_WORDS: ReadonlySet<string> = new Set(TEXT.split(/\s+/));
