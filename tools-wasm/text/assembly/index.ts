// The text plugin: calls the tool of each name.

import { finish, readCall } from "remit/plugin";
import { count } from "./count";
import { cut } from "./cut";
import { diff } from "./diff";
import { head, tail } from "./head_tail";
import { outline } from "./outline";
import { search } from "./search";
import { sort } from "./sort";
import { unique } from "./unique";

export function run(): i32 {
  const call = readCall();
  const op = call.op;
  const args = call.args;
  if (op == "text_search") search(args);
  else if (op == "text_head") head(args);
  else if (op == "text_tail") tail(args);
  else if (op == "text_count") count(args);
  else if (op == "text_sort") sort(args);
  else if (op == "text_unique") unique(args);
  else if (op == "text_cut") cut(args);
  else if (op == "text_diff") diff(args);
  else if (op == "text_outline") outline(args);
  return finish();
}
