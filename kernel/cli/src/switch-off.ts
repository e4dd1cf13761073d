/** `svc ext disable` where the daemon does not answer: a file in the data folder says so, to the daemon that runs and to the next start. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { isTable, nearest } from '@svc/api';
import type { Cli, Outcome } from './cli.js';
import { EXIT } from './exit-codes.js';
import { Failure } from './failure.js';

/** The daemon looks for the file each second. */
const FOLLOW_WAIT_MS = 8_000;
const POLL_MS = 500;
const ANSWER_MS = 2_000;

/** It runs, or starts, and says nothing or that it cannot now. */
const SILENT = new Set(['cli_daemon_silent', 'cli_connection_lost', 'starting', 'daemon_not_ready', 'storage_too_slow', 'storage_overloaded', 'storage_unreachable']);

export const isSilent = (cli: Cli, error: unknown): boolean => error instanceof Failure && !cli.settings.isElsewhere && SILENT.has(error.code);

export const switchOffByFile = async (cli: Cli, id: string, isRunning: boolean): Outcome => {
  const known = await knownIds(cli);
  if (known && !known.includes(id)) {
    const [near] = nearest(id, known);
    throw new Failure(`There is no extension "${id}".${near === undefined ? '' : ` Did you mean ${near}?`}`, { code: 'daemon_unknown_extension', fix: 'svc ext list   with the daemon running' });
  }
  const { switchedOffIn } = await import('@svc/platform/choices/switched-off');
  switchedOffIn(cli.settings.dataDir).put(id);
  const state = isRunning ? await followed(cli, id) : undefined;
  const from = state === undefined ? 'next_start' : 'now';
  if (cli.json) cli.out.json({ plan: null, extension: null, wanted: false, state: state ?? null, from });
  else cli.out.line(`${cli.out.green('✓')} ${sentence(id, isRunning, state)}`);
  return EXIT.ok;
};

const sentence = (id: string, isRunning: boolean, state: string | undefined): string => {
  if (state !== undefined) return `${id} is ${state}`;
  if (!isRunning) return `${id} is switched off from the next start on; the daemon is not running`;
  return `${id} is switched off. The daemon does not respond now: it follows as soon as it can, and the next start leaves ${id} off. To end it: svc stop`;
};

/** Undefined where the daemon does not say. */
const followed = async (cli: Cli, id: string): Promise<string | undefined> => {
  const daemon = await cli.daemon();
  for (const deadline = Date.now() + FOLLOW_WAIT_MS; Date.now() < deadline; ) {
    const state = await daemon.call('getExtension', { name: id }, { timeoutMs: ANSWER_MS }).then(
      (extension) => extension.state,
      () => undefined,
    );
    if (state === 'inactive') return state;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return undefined;
};

/** What came with the daemon, and what was installed. Undefined where neither list can be read: then any id is taken. */
const knownIds = async (cli: Cli): Promise<string[] | undefined> => {
  const release = idsIn(path.join(cli.distDir, 'release.json'));
  const installed = idsIn(path.join(cli.settings.dataDir, 'extensions', 'installed.json'));
  return release && [...release, ...(installed ?? [])];
};

const idsIn = (file: string): string[] | undefined => {
  try {
    const found: unknown = JSON.parse(readFileSync(file, 'utf8'));
    const list = isTable(found) && Array.isArray(found.extensions) ? found.extensions : [];
    return list.flatMap((one: unknown) => (isTable(one) && typeof one.id === 'string' ? [one.id] : []));
  } catch {
    return undefined;
  }
};
