/**
 * Determines the visible text of a page from its drawing commands. Excluded is text without ink, in the colour of its
 * background, too small, outside the page or clip, covered by later drawing, or on a hidden layer. Used by
 * read_pdf.ts.
 * @module
 */
import { OPS } from "unpdf/pdfjs";
import {
  type Box,
  boxOf,
  type Colour,
  colourOf,
  cut,
  fieldsOf,
  IDENTITY,
  isAlike,
  isOpaque,
  isRectangle,
  lettersOf,
  listOf,
  type Matrix,
  matrixOf,
  moved,
  multiplied,
  numberOf,
  type TextItem,
  times,
  withoutLigatures,
} from "./lines.ts";

/** A page's drawing commands, as the library returns them. */
export interface Drawing {
  readonly fnArray: readonly number[];
  readonly argsArray: readonly unknown[];
}

/** What the commands refer to. */
export interface DrawingParts {
  /** Visible part of the page: `[left, bottom, right, top]`. */
  readonly view: readonly number[];
  isLayerSeen(group: unknown): boolean;
  /** A font by the library's name. */
  font(name: string): unknown;
  /** An image by the library's name. */
  image(name: string): unknown;
}

/** The visible text of a page. */
export interface SeenText {
  readonly items: readonly TextItem[];
  /** Invisible characters. */
  readonly hidden: number;
  /** Characters that only the font's own table maps to Unicode. */
  readonly named: number;
}

interface State {
  readonly ctm: Matrix;
  readonly clip: Box;
  /** Undefined: a pattern, or unknown. */
  readonly fill: Colour | undefined;
  readonly stroke: Colour | undefined;
  readonly alpha: number;
  readonly strokeAlpha: number;
  /** Whether a blend mode or mask lets the background through. */
  readonly mixed: boolean;
  readonly font: Font;
  readonly size: number;
  readonly charSpacing: number;
  readonly wordSpacing: number;
  readonly scale: number;
  readonly leading: number;
  readonly rise: number;
  readonly mode: number;
}

interface Font {
  readonly unit: number;
  readonly vertical: boolean;
  readonly names: readonly unknown[];
}

interface Piece extends TextItem {
  readonly box: Box;
  hidden: boolean;
  /** Number of areas painted before it. */
  readonly areas: number;
}

interface Area {
  readonly box: Box;
  readonly colour: Colour | undefined;
  /** Whether nothing shows through. */
  readonly opaque: boolean;
  readonly pieces: number;
}

const BLACK: Colour = [0, 0, 0];
const WHITE: Colour = [255, 255, 255];
const NO_FONT: Font = { unit: 0.001, vertical: false, names: [] };
/** Points below which text is unreadable; on a small page, a share of its height. */
const MIN_HEIGHT = 1.5;
const MIN_HEIGHT_SHARE = 0.002;
/** Minimum opacity. */
const MIN_OPACITY = 0.05;
const MAX_AREAS = 2_000;
const MAX_PIECES = 200_000;
const MAX_STATES = 1_000;
/** Comparisons per page; beyond, text counts as visible. */
const MAX_COMPARED = 20_000_000;

/** Determines the visible text. Accepts any drawing: invalid commands draw nothing. */
export function seenText({ fnArray, argsArray }: Drawing, parts: DrawingParts): SeenText {
  const view = boxOf(parts.view) ?? [-Infinity, -Infinity, Infinity, Infinity];
  const tiny = Math.min(MIN_HEIGHT, (view[3] - view[1]) * MIN_HEIGHT_SHARE);
  const states: State[] = [];
  const pieces: Piece[] = [];
  const areas: Area[] = [];
  const layers: boolean[] = [];
  /** Text used as a clip is visible once something is painted through it. */
  let clips: { readonly piece: Piece; readonly depth: number }[] = [];
  let state: State = {
    ...{ ctm: IDENTITY, clip: view, fill: BLACK, stroke: BLACK },
    ...{ alpha: 1, strokeAlpha: 1, mixed: false },
    ...{ font: NO_FONT, size: 0, charSpacing: 0, wordSpacing: 0, scale: 1, leading: 0, rise: 0 },
    mode: 0,
  };
  let line: Matrix = IDENTITY;
  let text: Matrix = IDENTITY;
  let clipping = false;
  let named = 0;
  let compared = 0;

  const set = (change: Partial<State>): void => {
    state = { ...state, ...change };
  };
  const isLayerHidden = (): boolean => layers.includes(false);
  const paint = (local: Box | undefined, colour: Colour | undefined, opaque: boolean): void => {
    if (clips.length > 0) {
      // Painted through the text, so it covers nothing.
      for (const { piece } of clips) piece.hidden = false;
      return;
    }
    if (local === undefined || isLayerHidden() || areas.length >= MAX_AREAS) return;
    const box = cut(moved(local, state.ctm), state.clip);
    if (box[0] >= box[2] || box[1] >= box[3] || state.alpha < MIN_OPACITY) return;
    const whole = opaque && state.alpha > 1 - MIN_OPACITY && !state.mixed;
    areas.push({ box, colour: whole ? colour : undefined, opaque: whole, pieces: pieces.length });
  };

  /** Whether text has the colour of the topmost area behind it. */
  const isSameAsBehind = (ink: Colour | undefined, at: Box): boolean => {
    if (ink === undefined) return false;
    const [x, y] = [(at[0] + at[2]) / 2, (at[1] + at[3]) / 2];
    for (let n = areas.length - 1; n >= 0; n -= 1) {
      compared += 1;
      const area = areas[n];
      if (compared > MAX_COMPARED) return false;
      if (area === undefined || x < area.box[0] || x > area.box[2]) continue;
      if (y >= area.box[1] && y <= area.box[3]) return isAlike(ink, area.colour);
    }
    return isAlike(ink, WHITE);
  };

  const isUnseen = (box: Box, height: number): boolean => {
    const { mode, fill, stroke, alpha, strokeAlpha } = state;
    if (isLayerHidden() || height < tiny || mode === 3 || mode === 7) return true;
    const [x, y] = [(box[0] + box[2]) / 2, (box[1] + box[3]) / 2];
    const { clip } = state;
    if (x < clip[0] || x > clip[2] || y < clip[1] || y > clip[3]) return true;
    const filled = mode % 4 !== 1 && alpha >= MIN_OPACITY && !isSameAsBehind(fill, box);
    const stroked = (mode % 4 === 1 || mode % 4 === 2) && strokeAlpha >= MIN_OPACITY &&
      !isSameAsBehind(stroke, box);
    return !filled && !stroked;
  };

  const show = (glyphs: unknown): void => {
    if (!Array.isArray(glyphs) || pieces.length >= MAX_PIECES) return;
    const { font, size, scale, charSpacing, wordSpacing, rise, ctm } = state;
    const from = text;
    let said = "";
    for (const glyph of glyphs) {
      if (typeof glyph === "number") {
        const gap = -glyph * size / 1_000;
        text = font.vertical ? times(text, 0, gap) : times(text, gap * scale, 0);
        if (gap > 0.15 * Math.abs(size) && said !== "" && !said.endsWith(" ")) said += " ";
        continue;
      }
      if (typeof glyph !== "object" || glyph === null) continue;
      const { unicode, width, isSpace, vmetric, originalCharCode } = fieldsOf(glyph);
      const own = typeof originalCharCode === "number" ? font.names[originalCharCode] : undefined;
      const letters = typeof unicode === "string" ? unicode : "";
      if (letters.trim() === "" && typeof own === "string" && own.trim() !== "") {
        said += own;
        named += 1;
      } else said += letters;
      const more = charSpacing + (isSpace === true ? wordSpacing : 0);
      if (font.vertical) {
        const tall = Array.isArray(vmetric) ? numberOf(vmetric[0]) : -1_000;
        text = times(text, 0, tall * font.unit * size - more);
      } else text = times(text, (numberOf(width) * font.unit * size + more) * scale, 0);
    }
    if (said.trim() === "") return;
    const at = multiplied(ctm, multiplied(from, [size * scale, 0, 0, size, 0, rise]));
    const end = multiplied(ctm, multiplied(text, [size * scale, 0, 0, size, 0, rise]));
    const height = Math.hypot(at[2], at[3]);
    const [rx, ry] = [at[2] * 0.7, at[3] * 0.7];
    const xs = [at[4], end[4], at[4] + rx, end[4] + rx];
    const ys = [at[5], end[5], at[5] + ry, end[5] + ry];
    if (![...xs, ...ys].every(Number.isFinite)) return;
    const box: Box = [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
    const piece: Piece = {
      str: said.normalize("NFKC") === said ? said : withoutLigatures(said),
      transform: [...at],
      width: Math.hypot(end[4] - at[4], end[5] - at[5]),
      ...{ height, hasEOL: false, box, areas: areas.length },
      hidden: isUnseen(box, height),
    };
    pieces.push(piece);
    if (state.mode === 7 && !isLayerHidden()) clips.push({ piece, depth: states.length });
  };

  const nextLine = (x: number, y: number): void => {
    line = multiplied(line, [1, 0, 0, 1, x, y]);
    text = line;
  };

  const save = (): void => {
    if (states.length < MAX_STATES) states.push(state);
  };
  const restore = (): void => {
    state = states.pop() ?? state;
    clips = clips.filter(({ depth }) => depth <= states.length);
  };

  const graphics = (entries: unknown): void => {
    for (const entry of Array.isArray(entries) ? entries : []) {
      const [name, value]: readonly unknown[] = Array.isArray(entry) ? entry : [];
      if (name === "ca") set({ alpha: numberOf(value) });
      else if (name === "CA") set({ strokeAlpha: numberOf(value) });
      else if (name === "BM") set({ mixed: value !== "source-over" });
      else if (name === "SMask") set({ mixed: state.mixed || value !== false });
      else if (name === "Font" && Array.isArray(value)) setFont(value[0], value[1]);
    }
  };

  const setFont = (name: unknown, size: unknown): void => {
    const font = typeof name === "string" ? fontOf(parts.font(name)) : NO_FONT;
    set({ font, size: numberOf(size) });
  };

  const run = (op: number, args: readonly unknown[]): void => {
    const [first, second] = args;
    switch (op) {
      case OPS.save:
      case OPS.beginGroup:
        return save();
      case OPS.restore:
      case OPS.endGroup:
        return restore();
      case OPS.transform:
        return set({ ctm: multiplied(state.ctm, matrixOf(args)) });
      case OPS.paintFormXObjectBegin: {
        save();
        set({ ctm: multiplied(state.ctm, matrixOf(listOf(first))) });
        const box = boxOf(listOf(second));
        if (box !== undefined) set({ clip: cut(moved(box, state.ctm), state.clip) });
        return;
      }
      case OPS.paintFormXObjectEnd:
        return restore();
      case OPS.setGState:
        return graphics(first);
      case OPS.setFillRGBColor:
        return set({ fill: colourOf(first) });
      case OPS.setStrokeRGBColor:
        return set({ stroke: colourOf(first) });
      case OPS.setFillColorN:
      case OPS.shadingFill:
        if (op === OPS.shadingFill) paint(state.clip, undefined, true);
        else set({ fill: undefined });
        return;
      case OPS.setStrokeColorN:
      case OPS.setFillTransparent:
        return set(op === OPS.setStrokeColorN ? { stroke: undefined } : { alpha: 0 });
      case OPS.clip:
      case OPS.eoClip:
        clipping = true;
        return;
      case OPS.constructPath: {
        const box = boxOf(listOf(args[2]));
        if (PAINTS.has(numberOf(first))) paint(box, state.fill, isRectangle(second));
        if (clipping && box !== undefined) {
          set({ clip: cut(moved(box, state.ctm), state.clip) });
        }
        clipping = false;
        return;
      }
      case OPS.paintImageXObject:
      case OPS.paintInlineImageXObject:
        return paint(
          UNIT,
          undefined,
          isOpaque(op === OPS.paintImageXObject ? parts.image(String(first)) : first),
        );
      case OPS.paintSolidColorImageMask:
        return paint(UNIT, state.fill, true);
      case OPS.paintImageMaskXObject:
      case OPS.paintImageMaskXObjectGroup:
      case OPS.paintImageMaskXObjectRepeat:
      case OPS.paintImageXObjectRepeat:
      case OPS.paintInlineImageXObjectGroup:
        return paint(undefined, undefined, false);
      case OPS.beginMarkedContent:
        layers.push(true);
        return;
      case OPS.beginMarkedContentProps:
        layers.push(first !== "OC" || second === null || parts.isLayerSeen(second));
        return;
      case OPS.endMarkedContent:
        layers.pop();
        return;
      case OPS.beginText:
        line = text = IDENTITY;
        return;
      case OPS.setFont:
        return setFont(first, second);
      case OPS.setCharSpacing:
        return set({ charSpacing: numberOf(first) });
      case OPS.setWordSpacing:
        return set({ wordSpacing: numberOf(first) });
      case OPS.setHScale:
        return set({ scale: numberOf(first) / 100 });
      case OPS.setLeading:
        return set({ leading: numberOf(first) });
      case OPS.setTextRise:
        return set({ rise: numberOf(first) });
      case OPS.setTextRenderingMode:
        return set({ mode: numberOf(first) });
      case OPS.setTextMatrix:
        line = text = matrixOf(args.length === 1 ? listOf(first) : args);
        return;
      case OPS.moveText:
        return nextLine(numberOf(first), numberOf(second));
      case OPS.setLeadingMoveText:
        set({ leading: -numberOf(second) });
        return nextLine(numberOf(first), numberOf(second));
      case OPS.nextLine:
        return nextLine(0, -state.leading);
      case OPS.showText:
        return show(first);
    }
  };

  for (const [at, op] of fnArray.entries()) run(op, listOf(argsArray[at]));
  cover(pieces, areas);
  const items = pieces.filter(({ hidden }) => !hidden);
  const hidden = pieces.reduce((sum, piece) => sum + (piece.hidden ? lettersOf(piece.str) : 0), 0);
  return { items, hidden, named };
}

/** Hides text that a later area covers completely. */
function cover(pieces: readonly Piece[], areas: readonly Area[]): void {
  let left = MAX_COMPARED;
  for (const { box, opaque, pieces: before } of areas) {
    if (!opaque) continue;
    for (let n = 0; n < before && left > 0; n += 1, left -= 1) {
      const piece = pieces[n];
      if (piece === undefined || piece.hidden) continue;
      const own = piece.box;
      const within = own[0] >= box[0] - 1 && own[1] >= box[1] - 1 && own[2] <= box[2] + 1 &&
        own[3] <= box[3] + 1;
      if (within) piece.hidden = true;
    }
  }
}

const UNIT: Box = [0, 0, 1, 1];
const PAINTS = new Set<number>([
  ...[OPS.fill, OPS.eoFill, OPS.fillStroke, OPS.eoFillStroke],
  ...[OPS.closeFillStroke, OPS.closeEOFillStroke],
]);
function fontOf(font: unknown): Font {
  if (typeof font !== "object" || font === null) return NO_FONT;
  const { fontMatrix, vertical, toUnicode } = fieldsOf(font);
  const unit = numberOf(listOf(fontMatrix)[0]);
  const names = typeof toUnicode === "object" && toUnicode !== null
    ? listOf(fieldsOf(toUnicode)["_map"])
    : [];
  return { unit: unit === 0 ? 0.001 : unit, vertical: vertical === true, names };
}
