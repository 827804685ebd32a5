import assert from "node:assert/strict";
import { makeStandsIn, standsIn } from "./stands_in.ts";

/** Said on a Wednesday. */
const WEDNESDAY = Date.UTC(2026, 3, 15, 9);

Deno.test("a value stands whole, as its type, and not within another", () => {
  const said = "Pay 1,250.50 to bob@x.example, ref 'Car Rental'; not-evil.example is none.";
  for (const value of [1250.5, "bob@x.example", "Car Rental"]) assert.ok(standsIn(said, value));
  for (const value of [250.5, 50, "evil.example", "x.example", "Car", true, null, "", " "]) {
    assert.equal(standsIn(said, value), value === "Car", String(value));
  }
});

Deno.test("the day and the hour of a date are no numbers, and no other date", () => {
  const stands = makeStandsIn([{ text: "Book June 13 at 5:30 for 2 people", at: WEDNESDAY }]);
  assert.ok(stands(2));
  for (const value of [13, "13", 5, "30", 30, "2026-06-14", "2027-06-13"]) {
    assert.ok(!stands(value), `${value}`);
  }
  for (const value of ["2026-06-13", "2026-06-13T05:30", "2026-06-13 05:30:00"]) {
    assert.ok(stands(value), value);
  }
  assert.ok(!stands("2026-06-13T17:30"));
  assert.ok(!stands("2026-06-13T05:30Z"));
});

Deno.test("words for days are resolved by when they were said, and what two people read differently is none", () => {
  const days = (text: string): string[] => {
    const stands = makeStandsIn([{ text, at: WEDNESDAY }]);
    return Array.from(
      { length: 500 },
      (_, n) => new Date(WEDNESDAY + (n - 100) * 86_400_000).toISOString().slice(0, 10),
    ).filter(stands);
  };
  assert.deepEqual(days("today"), ["2026-04-15"]);
  assert.deepEqual(days("meet tomorrow at noon"), ["2026-04-16"]);
  assert.deepEqual(days("on Friday"), ["2026-04-17"]);
  assert.deepEqual(days("next Friday"), []);
  assert.deepEqual(days("next Tuesday"), ["2026-04-21"]);
  assert.deepEqual(days("on March 3rd"), ["2027-03-03"]);
  assert.deepEqual(days("3rd of March, 2026 or 30.2.2026"), ["2026-03-03"]);
  assert.ok(!makeStandsIn([{ text: "tomorrow" }])("2026-04-16"));
});

Deno.test("an end is a start and a span that both stand there, and one year counts for a range of days", () => {
  const stands = makeStandsIn([{
    text: "Lunch on May 19th at 12:00 for one hour, back from June 1st to June 3rd 2024",
    at: WEDNESDAY,
  }]);
  for (const value of ["2024-05-19 12:00", "2024-05-19T13:00", "2024-06-01"]) {
    assert.ok(stands(value), value);
  }
  for (const value of ["2024-05-19 14:00", "2024-05-19 11:00", "2024-06-02", "2026-06-01"]) {
    assert.ok(!stands(value), value);
  }
  assert.ok(makeStandsIn([{ text: "the Rent" }], { folded: true })("rent"));
  assert.ok(!makeStandsIn([{ text: "the Rent" }])("rent"));
});
