/** `svc ext`: the extensions. What a change stops or degrades is shown before it happens. */
import type { Command } from 'commander';
import type { ExtensionPlan, ExtensionStatus } from '@svc/api';
import type { RefusedExtension } from '@svc/api/internal';
import { confirm } from '../terminal/asking.js';
import type { Cli, Outcome } from '../cli.js';
import type { Action } from '../command.js';
import type { DaemonClient } from '../daemon/daemon-client.js';
import { EXIT } from '../exit-codes.js';
import { defineAuthoring } from './ext-author.js';
import { defineExtensionDoctor } from './ext-doctor.js';
import { defineInstalling } from './ext-install.js';
import { definePublishing } from './ext-publish.js';
import { Failure } from '../failure.js';
import { changeBeside, placeOf } from '../local-change.js';
import { isSilent, switchOffByFile } from '../switch-off.js';
import { infoLines, listLines, planLines, type GraphNode, graphLines, refusedLines, whyLines } from '../extension-views.js';

/** A disable waits for what the extension is doing. */
const CHANGE_WAIT_MS = 120_000;

/** A plan is made from what is known: a daemon that takes longer is stuck. */
const PLAN_WAIT_MS = 8_000;

type Change = ExtensionPlan['action'];

export const define = (program: Command, action: Action): void => {
  const ext = program.command('ext').description('List, switch and install extensions').helpCommand(false);
  const one = (name: string, description: string, work: (cli: Cli, id: string, flags: { force?: boolean }) => Outcome): Command =>
    ext.command(name).description(description).argument('<id>').action(action(work));
  ext
    .command('list')
    .description('List extensions with their states')
    .action(action((cli) => list(cli)));
  one('info', "Show an extension's details", (cli, id) => show(cli, id, infoLines));
  one('why', "Explain an extension's state", (cli, id) => show(cli, id, whyLines));
  one('enable', 'Switch an extension on permanently', (cli, id) => change(cli, 'enable', id, false));
  one('disable', 'Switch an extension off permanently', (cli, id, flags) => change(cli, 'disable', id, flags.force === true)).option('--force', 'do not wait for running work');
  one('reset', 'Reset your choice, so that config.toml or the preset decides again', (cli, id) => change(cli, 'reset', id, false));
  one('reload', "Reload an extension's code without failing requests or cutting streams", (cli, id) => change(cli, 'reload', id, false));
  ext
    .command('graph')
    .description('Show which extensions depend on which')
    .action(action((cli) => graph(cli)));
  defineInstalling(ext, action);
  defineAuthoring(ext, action);
  definePublishing(ext, action);
  defineExtensionDoctor(ext, action);
};

const list = async (cli: Cli): Outcome => {
  const daemon = await cli.daemon();
  const { extensions } = await daemon.call('listExtensions');
  const refused = await refusedOnes(daemon);
  if (cli.json) cli.out.json({ extensions, total: extensions.length, ...(refused.length > 0 ? { refused } : {}) });
  else for (const line of [...listLines(extensions, cli.out), ...refusedLines(refused, cli.out)]) cli.out.line(line);
  return EXIT.ok;
};

/** None where the caller may not know, or the daemon is older. */
const refusedOnes = async (daemon: DaemonClient): Promise<readonly RefusedExtension[]> =>
  daemon.call('getExtensionTrust').then(
    ({ refused }) => refused,
    () => [],
  );

const show = async (cli: Cli, id: string, view: (status: ExtensionStatus, nodes: readonly GraphNode[], out: Cli['out']) => string[]): Outcome => {
  const daemon = await cli.daemon();
  const status = await daemon.call('getExtension', { name: id });
  const nodes = await readGraph(daemon);
  if (cli.json) cli.out.json({ ...status, graph: nodes.find((node) => node.id === id) ?? null });
  else for (const line of view(status, nodes, cli.out)) cli.out.line(line);
  return EXIT.ok;
};

const graph = async (cli: Cli): Outcome => {
  const nodes = await readGraph(await cli.daemon());
  if (cli.json) cli.out.json({ nodes });
  else for (const line of graphLines(nodes, cli.out)) cli.out.line(line);
  return EXIT.ok;
};

const readGraph = async (daemon: DaemonClient): Promise<GraphNode[]> => (await daemon.call('getExtensionGraph')).nodes;

const change = async (cli: Cli, action: Change, id: string, isForced: boolean): Outcome => {
  if (action === 'reload') return changeOverApi(cli, action, id, isForced);
  try {
    return await changeOverApi(cli, action, id, isForced);
  } catch (error) {
    if (action === 'disable' && isSilent(cli, error)) return switchOffByFile(cli, id, true);
    const place = await placeOf(cli, error);
    if (place === undefined) throw error;
    return changeBeside(cli, { action, id, place, agrees: (plan) => isAgreed(cli, plan) }).catch((failure: unknown) => {
      // It did not come with svc: the next start knows it.
      if (action === 'disable' && failure instanceof Failure && failure.code === 'daemon_unknown_extension') return switchOffByFile(cli, id, place === 'beside');
      throw failure;
    });
  }
};

const changeOverApi = async (cli: Cli, action: Change, id: string, isForced: boolean): Outcome => {
  const daemon = await cli.daemon();
  // A reload stops nothing and nobody, so there is nothing to show first.
  const plan = action === 'reload' ? undefined : await daemon.call('planExtensionChange', { name: id, body: { action } }, action === 'disable' ? { timeoutMs: PLAN_WAIT_MS } : {});
  if (plan !== undefined && !(await isAgreed(cli, plan))) {
    cli.out.line('Nothing was changed.');
    return EXIT.ok;
  }
  const consent = isForced ? { force: true } : plan !== undefined && plan.warning !== null ? { confirm: true } : {};
  const { extension } = await daemon.call(`${action}Extension`, { name: id, ...consent }, { timeoutMs: CHANGE_WAIT_MS });
  const isBroken = extension.state === 'failed' || extension.state === 'quarantined';
  if (isBroken) throw new Failure(`${id} is ${extension.state}.`, { code: 'cli_extension_failed', why: extension.reason ?? undefined, fix: `svc ext why ${id}` });
  if (cli.json) cli.out.json({ plan: plan ?? null, extension });
  else cli.out.line(`${cli.out.green('✓')} ${id} is ${extension.state}${extension.degraded ? ', degraded' : ''}`);
  return EXIT.ok;
};

const isAgreed = async (cli: Cli, plan: ExtensionPlan): Promise<boolean> => {
  const others = [...plan.starts, ...plan.stops].filter((other) => other !== plan.id);
  const isQuiet = others.length === 0 && plan.degrades.length === 0 && plan.warning === null;
  if (isQuiet) return true;
  if (!cli.json) for (const line of planLines(plan, cli.out)) cli.out.note(line);
  return confirm(cli, `${plan.action[0]?.toUpperCase()}${plan.action.slice(1)} ${plan.id}?`);
};
