/** `svc ext doctor`: whether extensions of others are kept apart, shown by trying. */
import type { IsolationReport } from '@svc/api/internal';
import type { Command } from 'commander';
import type { Cli, Outcome } from '../cli.js';
import type { Action } from '../command.js';
import { EXIT } from '../exit-codes.js';
import { table } from '../terminal/layout.js';
import type { Terminal } from '../terminal/terminal.js';

/** Two processes are started and ended. */
const PROOF_WAIT_MS = 60_000;

export const defineExtensionDoctor = (ext: Command, action: Action): void => {
  ext
    .command('doctor')
    .description('Test the isolation of third-party extensions by trying to escape it')
    .action(action((cli) => doctor(cli)));
};

const doctor = async (cli: Cli): Outcome => {
  const daemon = await cli.daemon();
  const found = await daemon.call('checkIsolation', {}, { timeoutMs: PROOF_WAIT_MS });
  if (cli.json) cli.out.json(found);
  else {
    for (const report of found.isolations) for (const line of reportLines(report, cli.out)) cli.out.line(line);
    for (const { id, message } of found.refused) cli.out.line(`${cli.out.red('✗')} ${id} is refused: ${message}`);
  }
  const isBroken = found.refused.length > 0 || found.isolations.some(({ proofs }) => proofs.some(({ outcome }) => outcome === 'open'));
  return isBroken ? EXIT.failed : EXIT.ok;
};

export const reportLines = ({ fault, isolation, proofs }: IsolationReport, out: Terminal): string[] => {
  if (fault !== null) return [`${out.yellow('!')} ${out.bold(isolation)} does not work here: ${fault}`, ''];
  const paint = { kept: out.green, 'not sure': out.yellow, open: out.red };
  const columns = [{ title: 'TRIED TO' }, { title: 'OUTCOME' }, { title: 'SAW', shrinks: true }];
  const rows = proofs.map(({ outcome, saw, what }) => [what, outcome, saw]);
  const lines = table(columns, rows, out.width, (text, column, row) => {
    if (row < 0 || column === 2) return out.dim(text);
    return column === 1 ? paint[proofs[row]?.outcome ?? 'open'](text) : text;
  });
  const note = proofs.some(({ outcome }) => outcome === 'not sure') ? [out.dim('not sure: nothing was found, but Node alone does not enforce it. [extensions] isolation = "walled" does.')] : [];
  return [out.bold(isolation), ...lines, ...note, ''];
};
