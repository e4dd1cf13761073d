import { type AnyTool, type Clock, defineTool, type ToolCall, type ToolOutput, Type } from '@svc/api';
import { lineOf, sandboxNote } from '../builtin/command-start.js';
import { commandPreview } from '../builtin/previews.js';
import { toolErrors } from '../errors.js';
import { isNarrowed, MAX_OF_AGENT, type Found, type Processes } from './processes.js';
import type { LiveProcess } from './live-process.js';
import type { ProcessEnd, ProcessRow } from './process-rows.js';

/** Three bytes each at the worst: within what one result may hold. */
const MAX_POLL_CHARS = 20_000;
const MAX_WAIT_SECONDS = 60;
const MAX_INPUT_CHARS = 65_536;
/** A process that takes nothing of its input for so long is not waited for. */
const WRITE_WAIT_MS = 5_000;

export interface ProcessToolDeps {
  readonly processes: Processes;
  readonly clock: Pick<Clock, 'mono' | 'sleep'>;
}

export const processTools = (deps: ProcessToolDeps): AnyTool[] => [startTool(deps), pollTool(deps), writeTool(deps), killTool(deps), listTool(deps)];

/** Of no use to an agent that may not start any. */
export const PROCESS_COMPANIONS: ReadonlySet<string> = new Set(['process_poll', 'process_write', 'process_kill', 'process_list']);

const closed = { additionalProperties: false };
const ProcessId = Type.String({ minLength: 1, maxLength: 100, description: 'As process_start gave it' });

const startTool = ({ processes, clock }: ProcessToolDeps): AnyTool =>
  defineTool({
    name: 'process_start',
    description: `Starts a program in your workspace that runs in the background: a server, a watcher, a prompt. Returns a process id immediately. Use process_poll to read its output, process_write to send input, process_kill to stop it. At most ${MAX_OF_AGENT} at a time, for 24 hours at most. For a short command, use shell_exec. Without a shell grant, it is one program with its arguments.`,
    params: Type.Object(
      {
        command: Type.String({ minLength: 1, maxLength: 100_000, description: 'A command line; with args the program alone' }),
        args: Type.Optional(Type.Array(Type.String({ maxLength: 100_000 }), { maxItems: 1_000, description: 'Arguments, passed unchanged: no shell interprets them' })),
      },
      closed,
    ),
    risk: 'exec',
    openWorld: false,
    needs: (args) => [{ capability: 'shell', target: commandOf(args) }],
    writes: 'unknown',
    // The same call finds the process that it started, or what became of it.
    replay: 'keyed',
    parallel: false,
    preview: (args) => commandPreview(commandOf(args)),
    run: async (args, call) => {
      const found = await processes.start(call, commandOf(args));
      if ('live' in found) {
        const note = sandboxNote(found.live.child?.sandbox);
        return `[process ${found.live.id}: ${stateOf(found.live, clock)}]${note === undefined ? '' : `\n${note}`}`;
      }
      return { content: `${describeRow(found.row)}\nIt was not started a second time. Start it again if it is still needed.`, isError: true };
    },
  });

const commandOf = ({ command, args }: { readonly command: string; readonly args?: readonly string[] }): string => (args === undefined ? command : lineOf([command, ...args]));

const pollTool = ({ processes, clock }: ProcessToolDeps): AnyTool =>
  defineTool({
    name: 'process_poll',
    description:
      'Reads the output of your process since the last call, standard output and errors together, and its status. Set wait_seconds to wait for new output instead of polling. Set cursor from an earlier result to read from there again.',
    params: Type.Object(
      {
        process_id: ProcessId,
        cursor: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: 'Where to read from; by default, where the last result ended' })),
        wait_seconds: Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_WAIT_SECONDS, description: 'Wait so long for new output or the end. Default 0' })),
      },
      closed,
    ),
    risk: 'read',
    // Asked again, the same call reads from the same place.
    replay: 'keyed',
    parallel: true,
    run: async ({ process_id, cursor, wait_seconds = 0 }, call) => {
      const found = await processes.find(call, process_id);
      if ('row' in found) return rowOutput(found.row);
      const { live } = found;
      const key = `${call.runId}:${call.callId}`;
      const from = cursor ?? (live.polled.key === key ? live.polled.from : live.polled.next);
      if (wait_seconds > 0 && live.output.end <= from && !live.end) await newsWithin(live, wait_seconds * 1000, clock, call);
      const part = live.output.read(from, MAX_POLL_CHARS);
      live.polled = { key, from, next: part.next };
      const lines = [`[process ${live.id}: ${stateOf(live, clock)}; cursor ${part.next}]`];
      if (part.dropped > 0) lines.push(`[${part.dropped} characters before this were dropped: they were not read in time]`);
      if (part.text !== '') lines.push(part.text);
      if (part.left > 0) lines.push(`[${part.left} more characters wait: poll again]`);
      return lines.join('\n');
    },
  });

const newsWithin = async (live: LiveProcess, ms: number, clock: ProcessToolDeps['clock'], call: ToolCall): Promise<void> => {
  const over = new AbortController();
  const either = AbortSignal.any([over.signal, call.signal]);
  const late = clock.sleep(ms, either).catch(() => undefined); // something came, or nobody waits any more
  await Promise.race([live.untilNews(either), late]);
  over.abort();
};

const writeTool = ({ processes, clock }: ProcessToolDeps): AnyTool =>
  defineTool({
    name: 'process_write',
    description: 'Writes a line to the standard input of your process; adds the line end if it is missing. Set end to close its input afterwards.',
    params: Type.Object(
      {
        process_id: ProcessId,
        data: Type.String({ maxLength: MAX_INPUT_CHARS }),
        end: Type.Optional(Type.Boolean({ description: 'Close the input after this. Default false' })),
      },
      closed,
    ),
    risk: 'write',
    openWorld: false,
    replay: 'never',
    parallel: false,
    run: async ({ process_id, data, end = false }, call) => {
      const live = heldOf(await processes.find(call, process_id));
      if (live.end || !live.child) throw toolErrors.process_ended(live.id, stateOf(live, clock));
      if (isNarrowed(live.grants, call.capabilities)) throw toolErrors.process_narrowed(live.id);
      const text = end && data === '' ? '' : data.endsWith('\n') ? data : `${data}\n`;
      if (text !== '') await writeSoon(live, live.child.stdin.write(text), clock);
      if (end) live.child.stdin.end();
      return `Wrote ${new TextEncoder().encode(text).length} bytes${end ? ' and closed the input' : ''}.`;
    },
  });

const writeSoon = async (live: LiveProcess, writing: Promise<void>, clock: ProcessToolDeps['clock']): Promise<void> => {
  const over = new AbortController();
  const late = clock.sleep(WRITE_WAIT_MS, over.signal).then(
    () => 'late' as const,
    () => undefined, // it was written in time
  );
  // Awaited below, or not any more: what was written late has nobody to tell.
  writing.catch(() => undefined);
  try {
    if ((await Promise.race([writing, late])) === 'late') throw toolErrors.process_deaf(live.id, WRITE_WAIT_MS / 1000);
  } finally {
    over.abort();
  }
};

const heldOf = (found: Found): LiveProcess => {
  if ('live' in found) return found.live;
  if (found.row.state === 'running') throw toolErrors.process_elsewhere(found.row.id);
  throw toolErrors.process_ended(found.row.id, howItEnded(found.row));
};

const killTool = ({ processes, clock }: ProcessToolDeps): AnyTool =>
  defineTool({
    name: 'process_kill',
    description: 'Ends a process of yours and all that it started: first by asking (TERM), after 3 seconds by force. Its last output can still be read with process_poll.',
    params: Type.Object({ process_id: ProcessId }, closed),
    risk: 'write',
    openWorld: false,
    // One that has ended stays ended.
    replay: 'safe',
    parallel: true,
    run: async ({ process_id }, call) => {
      const found = await processes.find(call, process_id);
      if ('row' in found) return rowOutput(found.row);
      found.live.stop('it was ended by process_kill');
      await found.live.done;
      return `[process ${found.live.id}: ${stateOf(found.live, clock)}]`;
    },
  });

const listTool = ({ processes }: ProcessToolDeps): AnyTool =>
  defineTool({
    name: 'process_list',
    description: 'Lists your processes, the newest first: those that run, and those that ended lately with how they ended.',
    params: Type.Object({}, closed),
    risk: 'read',
    openWorld: false,
    replay: 'safe',
    parallel: true,
    run: async (_args, call) => {
      if (call.agentId === '') throw toolErrors.needs_agent('process_list');
      const rows = await processes.list(call);
      if (rows.length === 0) return '[you have started no process]';
      return rows.map(({ row, isHere }) => `${row.id} started ${row.started_at}: ${isHere ? 'runs' : howItEnded(row)}: ${short(row.command)}`).join('\n');
    },
  });

const MAX_COMMAND_CHARS = 200;
const short = (command: string): string => (command.length > MAX_COMMAND_CHARS ? `${command.slice(0, MAX_COMMAND_CHARS)}…` : command);

const stateOf = (live: LiveProcess, clock: Pick<Clock, 'mono'>): string => {
  const seconds = Math.floor(((live.endedMs ?? clock.mono()) - live.startedMs) / 1000);
  return live.end ? `${endText(live.end)} after ${seconds} s` : `runs for ${seconds} s`;
};

const endText = ({ state, exitCode, note }: ProcessEnd): string => {
  if (state === 'exited') return note === null ? `exited with code ${exitCode}` : `ended by ${note}`;
  return `${state === 'lost' ? 'was lost' : 'was ended'}: ${note ?? 'no reason is known'}`;
};

const howItEnded = (row: ProcessRow): string =>
  row.state === 'running' ? 'belongs to another daemon' : `${endText({ state: row.state, exitCode: row.exit_code, note: row.note })}${row.ended_at === null ? '' : `, ${row.ended_at}`}`;

const describeRow = (row: ProcessRow): string => `[process ${row.id}: ${howItEnded(row)}]`;

/** Of one that this daemon does not hold, or not any more: its output is gone. */
const rowOutput = (row: ProcessRow): ToolOutput => {
  if (row.state === 'running') throw toolErrors.process_elsewhere(row.id);
  const gone = row.state === 'lost' ? 'It was stopped with all its child processes, and its output is lost. Start it again if it is still needed.' : 'Its output is no longer available.';
  return { content: `${describeRow(row)}\n${gone}`, isError: row.state === 'lost' };
};
