/**
 * Modules of WebAssembly among the programs of skills.
 *
 * Q1  A module has fuel and a deadline; either ends it. The same module, input and fuel give the same result.
 * Q2  It reaches the text files of its own skill, and nothing else. So it needs no shell and no sandbox of the operating system.
 */
import { type ExtensionContext, isSvcError, type Plain, type SecurityLook, type ToolCall, type ToolOutput } from '@svc/api';
import type { ScriptTool } from '../format/skill-toml.js';
import type { Entry, Library } from '../library.js';
import { MAX_FUEL, MAX_MODULE_BYTES } from '../wasm/meter.js';
import { WasmRun } from '../workers/wasm-worker.js';
import { probeModule } from '../wasm/probe.js';

const PAGES_PER_MB = 16;
const MAX_FILE_BYTES = 256 * 1024;
const MAX_FILES = 200;
const MAX_FILES_BYTES = 4 * 1024 * 1024;
const PROBE_MS = 100;

export interface WasmDeps {
  readonly ctx: Pick<ExtensionContext, 'workers' | 'clock' | 'log'>;
  readonly library: Library;
}

export const runWasmTool = async (deps: WasmDeps, entry: Entry, tool: ScriptTool, input: Readonly<Record<string, unknown>>, call: Pick<ToolCall, 'signal'>): Promise<ToolOutput> => {
  const program = entry.skill?.program;
  if (!program) return { content: `The skill ${entry.name} has no programs.`, isError: true };
  const module = await deps.library.bytes(entry, program.entry, MAX_MODULE_BYTES);
  // Files are read only for a module that may ask for them.
  const files = Buffer.from(module.buffer, module.byteOffset, module.byteLength).includes('host_call') ? await textFiles(deps.library, entry) : [];
  const source = { origin: { labels: ['ExternalNetwork' as const], source: `the program ${tool.name} of the skill ${entry.name}` } };
  const request = { module, input: JSON.stringify({ tool: tool.name, input, config: program.config }), fuel: program.fuel, pages: program.memoryMb * PAGES_PER_MB, files };
  const end = await inTime(deps, request, program.timeoutSecs * 1_000, call.signal);
  if (typeof end === 'string') return { content: `The program ${end}.`, isError: true, ...source };
  if (end.logs.length > 0) deps.ctx.log.debug('a program of a skill logged', { skill: entry.name, tool: tool.name, lines: end.logs.join('\n') });
  return end.isError ? { content: `The program was ended: ${end.text}.`, isError: true, ...source } : { content: end.text, ...source };
};

type Request = Plain<typeof WasmRun.input>;
type End = Plain<typeof WasmRun.output>;

/** What it gave, or why it was ended. */
const inTime = async ({ ctx }: Pick<WasmDeps, 'ctx'>, request: Request, ms: number, signal: AbortSignal | undefined): Promise<End | string> => {
  const late = new AbortController();
  const done = new AbortController();
  void ctx.clock.sleep(ms, done.signal).then(
    () => late.abort(),
    () => undefined,
  );
  try {
    return await ctx.workers.run(WasmRun, request, { signal: signal ? AbortSignal.any([signal, late.signal]) : late.signal });
  } catch (error) {
    if (late.signal.aborted) return `was ended after ${ms / 1_000} s`;
    if (signal?.aborted || !isSvcError(error)) throw error;
    return `was ended: ${error.message.replace(/\.$/, '')}`;
  } finally {
    done.abort();
  }
};

const textFiles = async (library: Library, entry: Entry): Promise<Array<{ path: string; text: string }>> => {
  const files: Array<{ path: string; text: string }> = [];
  let size = 0;
  for (const path of (entry.skill?.paths ?? []).slice(0, MAX_FILES)) {
    const bytes = await library.bytes(entry, path, MAX_FILE_BYTES).catch(() => undefined);
    if (!bytes || bytes.includes(0)) continue;
    size += bytes.length;
    if (size > MAX_FILES_BYTES) break;
    files.push({ path, text: Buffer.from(bytes).toString('utf8') });
  }
  return files;
};

/** Runs a module that never ends: with little fuel, and with little time. That takes its thread along, so it is done once where it holds. */
export const createMeteringLook = ({ ctx }: Pick<WasmDeps, 'ctx'>): (() => Promise<SecurityLook>) => {
  let isTimeMet = false;
  return async () => {
    const request = { module: probeModule(), input: '{}', pages: 1, files: [] };
    const fuel = await inTime({ ctx }, { ...request, fuel: 10_000 }, PROBE_MS * 20, undefined);
    isTimeMet ||= typeof (await inTime({ ctx }, { ...request, fuel: MAX_FUEL }, PROBE_MS, undefined)) === 'string';
    const isFuelMet = typeof fuel !== 'string' && fuel.isError && fuel.text.includes('fuel');
    const detail = `A module that never ends ${isFuelMet ? 'was ended by its fuel' : 'was not ended by its fuel'}, and ${isTimeMet ? 'by its deadline' : 'not by its deadline'}.`;
    return { state: isFuelMet && isTimeMet ? 'active' : isFuelMet || isTimeMet ? 'degraded' : 'failed', detail };
  };
};
