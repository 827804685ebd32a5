/** What the kernel and a toolhost say to each other. @module */
import type { Json, JsonObject } from "../base/json.ts";
import type { MountMode, StagedChange } from "../tool/workspace.ts";
import type { Source } from "../authority/question.ts";
import type { Colour, Label } from "../authority/colour.ts";

/** One mount as the toolhost finds it. */
export interface HostMount {
  readonly name: string;
  /** Where it lies for this process: `/m/NAME` under bubblewrap, else the real folder. */
  readonly root: string;
  readonly mode: MountMode;
  readonly colour: Colour;
  readonly label: Label;
  readonly marks: readonly {
    readonly path: string;
    readonly colour?: Colour;
    readonly label?: Label;
  }[];
  /** No tool names it: see Mount. */
  readonly apart?: true;
}

/** Kernel → toolhost, `setup`: once. Answered `null`. */
export interface SetupBody {
  readonly mounts: readonly HostMount[];
  /** Content-addressed files of this task: staged, base and undo contents, named by digest. */
  readonly content: string;
  readonly scratch: string;
  /** Globs of the never-list. */
  readonly never: readonly string[];
  /** The overlay of staged changes as the kernel has it. */
  readonly overlay: readonly StagedChange[];
  readonly scratchQuota: number;
}

/** Kernel → toolhost, `call`. The kernel has decided it; the host still checks every path itself. */
export interface HostCallBody {
  readonly id: string;
  readonly tool: string;
  readonly args: JsonObject;
  readonly deadlineMs: number;
  /** Most bytes of `content`. */
  readonly bytes: number;
  readonly key: string;
  /** Colour and label of the calling process: staged content and scratch keep them. */
  readonly colour: Colour;
  readonly label: Label;
}

/** Answer to `call`. */
export interface HostCallAnswer {
  readonly content: string;
  readonly colour: Colour;
  readonly label: Label;
  readonly sources: readonly Source[];
  readonly value?: Json;
  readonly observed?: string;
  readonly written?: string;
  /** Staged changes that this call made; the kernel commits them with the outcome. */
  readonly staged?: readonly StagedChange[];
  /** Paths whose staged change this call took back. */
  readonly unstaged?: readonly string[];
  readonly writtenBytes?: number;
  /**
   * SHA-256 of contents of the mounts that this call read: the kernel mixes in what is known of
   * them, and hands nothing of this on.
   */
  readonly contents?: readonly string[];
}

/** Kernel → toolhost event, `cancel`. */
export interface HostCancel {
  readonly id: string;
}

/**
 * Toolhost tools behind the host functions of plugins; never advertised to a model. Their answers'
 * `content` is empty, `value` is what a plugin gets.
 */
export const HOST_READ = "host_read";
/** See {@link HOST_READ}. */
export const HOST_LIST = "host_list";

/** Most bytes of one {@link HOST_READ}. */
export const HOST_READ_BYTES = 4 * 1024 * 1024;

/**
 * The toolhost tool that looks in a mount for never-listed files with more than one name, in a process of
 * its own: the process that serves a task's calls may not look at them.
 */
export const HOST_SURVEY = "host_survey";

/**
 * In the detail of a fault: the mount that has to be surveyed before the call can be answered. In the
 * arguments of the same call again: what {@link HOST_SURVEY} answered, by mount.
 */
export const SECOND_NAMES = "$secondNames";
