/** The kernel process: wires the parts together, in the order in which a request flows. @module */
import {
  type Digest,
  Fault,
  type KernelConfig,
  type ProcessRow,
  type TaskId,
  type ToolBinding,
  type Welcome,
} from "../contracts/mod.ts";
import { portOverConn } from "../port/stream_powers.ts";
import { openSqliteStore } from "../store/sqlite/mod.ts";
import {
  auditRecords,
  exportReceipts,
  loadOrMakeReceiptKey,
  openLog,
  readPrivate,
  repairTail,
  verifyLog,
} from "../broker/audit/mod.ts";
import { KEY_POWERS, LOG_POWERS } from "../broker/audit/log_powers.ts";
import { makeGate, makePins, makePolicy, openQuestions, redactSecrets } from "../broker/mod.ts";
import { makeHostedAgentService, makeTaskKeeper } from "../agents/mod.ts";
import { makeWorkspace } from "../workspace/mod.ts";
import { httpFetchBinding } from "../net/mod.ts";
import { makeBus } from "./bus.ts";
import { makeChildren } from "./children.ts";
import { makeControl } from "./control.ts";
import { bodyOf, type Replay, replayTask } from "./replay.ts";
import { disk, exit, listenControl, note, onTerminate, readConfigLine, realPowers } from "./main_powers.ts";
import { makeHandlers } from "./operator.ts";
import { makeModelServices } from "./model_services.ts";
import { makeProcessTable } from "./process_table.ts";
import { openLeases } from "./leases.ts";
import { makeTaskHost, type RunningTasks } from "./task_host.ts";
import { makeToolhosts } from "./toolhosts.ts";
import { makeWatching } from "./watch.ts";
import { realSpawn } from "./spawn_powers.ts";

const config = JSON.parse(await readConfigLine()) as KernelConfig;
