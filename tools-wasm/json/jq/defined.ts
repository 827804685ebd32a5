/** Built-in functions that are filters themselves. @module */
import { parseDefinitions } from "./parse.ts";
import type { Definition } from "./syntax.ts";

const SOURCE = `
def map(f): [.[] | f];
def map_values(f): .[] |= f;
def values: select(. != null);
def nulls: select(. == null);
def booleans: select(type == "boolean");
def numbers: select(type == "number");
def strings: select(type == "string");
def arrays: select(type == "array");
def objects: select(type == "object");
def iterables: select(type | . == "array" or . == "object");
def scalars: select(type | . != "array" and . != "object");
def with_entries(f): to_entries | map(f) | from_entries;
def add(f): [f] | add;
def in(o): . as $key | o | has($key);
def inside(b): . as $part | b | contains($part);
def while(test; update): recurse(if test then update else empty end) | select(test);
def until(test; update): first(recurse(if test then empty else update end) | select(test));
def repeat(f): recurse(f);
def recurse(f; test): recurse(f | select(test));
def recurse: ..;
def any: any(.[]; .);
def all: all(.[]; .);
def any(f): any(.[]; f);
def all(f): all(.[]; f);
def any(g; f): isempty(first(g | f | if . then . else empty end)) | not;
def all(g; f): isempty(first(g | f | if . then empty else true end));
def first: .[0];
def last: .[-1];
def nth($n): .[$n];
def nth($n; f): if $n < 0 then error("Out of bounds negative array index") else last(limit($n + 1; f)) end;
def paths: path(..) | select(length > 0);
def paths(f): path(.. | select(f)) | select(length > 0);
def leaf_paths: paths(scalars);
def del(f): delpaths([path(f)]);
def to_array: if type == "array" then . else [.] end;
def pick(f): . as $top | reduce path(f) as $p (null; setpath($p; $top | getpath($p)));
def range($to): range(0; $to; 1);
def range($from; $to): range($from; $to; 1);
def combinations: if length == 0 then [] else .[0][] as $x | (.[1:] | combinations) as $rest | [$x] + $rest end;
def combinations($n): . as $all | [range($n) | $all] | combinations;
def IN(g): any(. == g; .);
def IN(source; g): any(source == g; .);
def INDEX(f): INDEX(.[]; f);
def INDEX(source; f): reduce source as $row ({}; .[$row | f | tostring] = $row);
def ascii: [.] | implode;
def finites: select(isinfinite or isnan | not);
def test(re): test(re; null);
def match(re): match(re; null);
def capture(re): capture(re; null);
def capture(re; flags): match(re; flags) | [.captures[] | select(.name != null) | {key: .name, value: .string}] | from_entries;
def scan(re): scan(re; null);
def scan(re; $flags): match(re; "g" + $flags) | if (.captures | length) > 0 then [.captures[].string] else .string end;
def splits(re): split(re; null) | .[];
def splits(re; flags): split(re; flags) | .[];
def sub(re; f): sub(re; f; "");
def gsub(re; f): sub(re; f; "g");
def gsub(re; f; $flags): sub(re; f; "g" + $flags);
`;

/** By `name/arity`. */
export const DEFINED: ReadonlyMap<string, Definition> = new Map(
  parseDefinitions(SOURCE).map((definition) => [
    `${definition.name}/${definition.params.length}`,
    definition,
  ]),
);
