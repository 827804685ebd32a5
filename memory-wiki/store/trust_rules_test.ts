import assert from "node:assert/strict";
import fc from "fast-check";
import { cleared, Colour, colourSuffices, Label } from "../../contracts/authority/mod.ts";
import {
  adoptedTrust,
  handTrust,
  markedTrust,
  mixTrust,
  patchedTrust,
  sameTrust,
  sourceTrust,
  type Trust,
  worsenedTrust,
} from "./trust_rules.ts";

const BEST: Trust = { colour: "BLUE", label: "public" };
const RED: Trust = { colour: "RED", label: "public" };
const SECRET: Trust = { colour: "BLUE", label: "secret" };
const anyTrust = fc.record({
  colour: fc.constantFrom(...Colour.options),
  label: fc.constantFrom(...Label.options),
});

/** Whether `a` is no better than `b`, in colour and in label. */
function noBetter(a: Trust, b: Trust): boolean {
  return colourSuffices(b.colour, a.colour) && cleared(b.label, a.label);
}

Deno.test("a source is as its bringer says, and no better than its bytes were before", () => {
  assert.deepEqual(sourceTrust(BEST, undefined), BEST);
  assert.deepEqual(sourceTrust(BEST, RED), RED);
  assert.deepEqual(sourceTrust(RED, SECRET), { colour: "RED", label: "secret" });
});

Deno.test("an adopted raw file is YELLOW and internal at best, and worse where its bytes are known", () => {
  assert.deepEqual(adoptedTrust(undefined), { colour: "YELLOW", label: "internal" });
  assert.deepEqual(adoptedTrust(BEST), { colour: "YELLOW", label: "internal" });
  assert.deepEqual(adoptedTrust(RED), { colour: "RED", label: "internal" });
  assert.deepEqual(adoptedTrust(SECRET), { colour: "YELLOW", label: "secret" });
});

Deno.test("what a catalogue claims, and what is found out later, makes things only worse", () => {
  assert.deepEqual(adoptedTrust(undefined, BEST), { colour: "YELLOW", label: "internal" });
  assert.deepEqual(adoptedTrust(undefined, RED), { colour: "RED", label: "internal" });
  assert.deepEqual(adoptedTrust(RED, SECRET), { colour: "RED", label: "secret" });
  fc.assert(
    fc.property(anyTrust, anyTrust, (have, other) => {
      assert.ok(noBetter(worsenedTrust(have, other), have));
      assert.ok(noBetter(worsenedTrust(have, other), other));
      assert.ok(noBetter(adoptedTrust(have, other), { colour: "YELLOW", label: "internal" }));
      assert.ok(noBetter(adoptedTrust(have, other), mixTrust(have, other)));
      assert.equal(sameTrust(have, other), noBetter(have, other) && noBetter(other, have));
    }),
  );
});

Deno.test("a page takes the worst of its sources, its patch and its version before", () => {
  const page = { patch: BEST, cited: [BEST], before: BEST, fresh: false };
  assert.deepEqual(patchedTrust(page), BEST);
  assert.deepEqual(patchedTrust({ ...page, patch: RED }), RED);
  assert.deepEqual(patchedTrust({ ...page, cited: [BEST, SECRET, RED] }), {
    colour: "RED",
    label: "secret",
  });
  assert.deepEqual(patchedTrust({ ...page, before: SECRET }), SECRET);
});

Deno.test("a fresh change leaves the version before behind, and nothing else", () => {
  const page = { patch: BEST, cited: [BEST], before: SECRET, fresh: true };
  assert.deepEqual(patchedTrust(page), BEST);
  assert.deepEqual(patchedTrust({ ...page, patch: RED }), RED);
  assert.deepEqual(patchedTrust({ ...page, cited: [RED] }), RED);
});

Deno.test("no patch makes a page better than a source it cites or than what its author had read", () => {
  fc.assert(
    fc.property(
      anyTrust,
      fc.array(anyTrust, { maxLength: 5 }),
      fc.option(anyTrust, { nil: undefined }),
      fc.boolean(),
      (patch, cited, before, fresh) => {
        const made = patchedTrust({ patch, cited, before, fresh });
        assert.ok([patch, ...cited].every((one) => noBetter(made, one)));
        if (!fresh && before !== undefined) assert.ok(noBetter(made, before));
      },
    ),
  );
});

Deno.test("a hand edit is YELLOW and internal at best, and never better than sources, version before or bytes", () => {
  fc.assert(
    fc.property(
      fc.array(anyTrust, { maxLength: 5 }),
      fc.option(anyTrust, { nil: undefined }),
      fc.option(anyTrust, { nil: undefined }),
      anyTrust,
      (cited, before, recorded, shown) => {
        const made = handTrust({ cited, before, recorded, shown });
        const bounds = [...cited, { colour: "YELLOW", label: "internal" } as const];
        if (before !== undefined) bounds.push(before);
        if (recorded !== undefined) bounds.push(recorded);
        assert.ok(bounds.every((one) => noBetter(made, one)));
      },
    ),
  );
});

Deno.test("what front matter shows can make a page that the store never had only worse", () => {
  const page = { cited: [], before: undefined, recorded: undefined };
  assert.deepEqual(handTrust({ ...page, shown: BEST }), { colour: "YELLOW", label: "internal" });
  assert.deepEqual(handTrust({ ...page, shown: { colour: "RED", label: "secret" } }), {
    colour: "RED",
    label: "secret",
  });
  // Of a page that the store knows, it says nothing.
  assert.deepEqual(handTrust({ ...page, before: BEST, shown: { colour: "RED" } }), {
    colour: "YELLOW",
    label: "internal",
  });
});

Deno.test("a mark is what was signed, and a mixture is never better than its parts", () => {
  assert.deepEqual(markedTrust(BEST), BEST);
  fc.assert(
    fc.property(anyTrust, fc.array(anyTrust, { maxLength: 4 }), (first, rest) => {
      const mixed = mixTrust(first, ...rest);
      assert.ok([first, ...rest].every((one) => noBetter(mixed, one)));
    }),
  );
});
