/** `svc audit`: what works without the daemon. `svc audit recent` is data of the area. */
import { type Action, agoText, type Cli, type Command, EXIT, Failure, failureOf, type Outcome, facts, printable, readLocalRows, table, usageFailure } from '@svc/cli/area';
import type { AuditVerification } from '@svc/client';
import { EXPORT_TABLES, exportLines, type ExportVerdict, verifyExport } from '@svc/ext-audit/format';
import { createReadStream } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { createInterface } from 'node:readline';

const NEWEST = 20;

export const define = (program: Command, action: Action): void => {
  const audit = program
    .command('audit')
    .description('Show, verify and export the audit trail')
    .helpCommand(false)
    .action(action((cli) => newest(cli)));
  audit
    .command('verify')
    .description('Verify every entry and signed checkpoint; exit code 1 if something was changed')
    .option('--file <file>', 'verify an exported file instead; the daemon is not needed')
    .action(action((cli, flags: { file?: string }) => (flags.file === undefined ? verify(cli) : verifyFile(cli, flags.file))));
  audit
    .command('export')
    .description('Write all entries and signed checkpoints as JSON lines; works without the daemon')
    .option('--out <file>', 'write to this file; it must not exist')
    .action(action((cli, flags: { out?: string }) => exportAll(cli, flags.out)));
};

/** What `svc audit recent` shows, as far as it fits on a screen. */
const newest = async (cli: Cli): Outcome => {
  const { out } = cli;
  const found = await (await cli.daemon()).call('listAuditEntries', { limit: NEWEST });
  if (cli.json) out.json(found);
  else if (found.entries.length === 0) out.line('There are no entries.');
  else {
    const now = Date.now();
    const rows = found.entries.map(({ id, timestamp, event_type: type, outcome, actor }) => [String(id), agoText(timestamp, now), type, outcome, printable(actor ?? '')]);
    for (const line of table([{ title: 'ENTRY' }, { title: 'WHEN' }, { title: 'WHAT' }, { title: 'OUTCOME' }, { title: 'BY', shrinks: true }], rows, out.width, (text, _column, row) =>
      row < 0 ? out.dim(text) : text,
    ))
      out.line(line);
    if (found.total > rows.length) out.note(out.dim(`${found.total} in all: svc audit recent --limit N; svc audit verify   checks them`));
  }
  return EXIT.ok;
};

const verify = async (cli: Cli): Outcome => {
  const found = await (await cli.daemon()).call('verifyAudit');
  if (cli.json) cli.out.json(found);
  else show(cli, found.status === 'valid', factsOf(found), [...found.broken.map(({ id, problem }) => `Entry ${id}: ${problem}`), ...found.problems]);
  return found.status === 'valid' ? EXIT.ok : EXIT.failed;
};

const factsOf = ({ chain_length: length, checkpoints, covered, first_entry: first, last_entry: last, trimmed }: AuditVerification): Array<[string, string]> => [
  ['entries', `${length}${trimmed === 0 ? '' : `, of the first ${trimmed} only the hashes`}`],
  ...(first === null || last === null ? [] : [['time', `${first} to ${last}`] satisfies [string, string]]),
  ['signed', `${covered} entries, ${checkpoints} checkpoints`],
];

const verifyFile = async (cli: Cli, file: string): Outcome => {
  const input = createReadStream(file);
  let verdict: ExportVerdict;
  try {
    verdict = await verifyExport(createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY }));
  } catch (error) {
    throw new Failure(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`, { code: 'cli_audit_file', fix: 'svc audit export --out FILE   writes one' });
  }
  const isValid = verdict.problems.length === 0;
  if (cli.json) cli.out.json({ status: isValid ? 'valid' : 'invalid', ...verdict });
  else
    show(
      cli,
      isValid,
      [
        ['entries', `${verdict.entries}${verdict.trimmed === 0 ? '' : `, of ${verdict.trimmed} only the hashes`}; ${verdict.details} with personal details`],
        ['signed', `${verdict.covered} entries, ${verdict.checkpoints} checkpoints`],
        ...verdict.keys.map((key): [string, string] => ['key', key]),
      ],
      verdict.problems,
    );
  return isValid ? EXIT.ok : EXIT.failed;
};

const show = (cli: Cli, isValid: boolean, rows: Array<[string, string]>, problems: readonly string[]): void => {
  const { out } = cli;
  out.line(isValid ? `${out.green('✓')} The audit trail is what was written.` : `${out.red('✗')} The audit trail was changed.`);
  for (const line of facts(rows, out.width, (text) => text)) out.line(line);
  for (const problem of problems) out.line(out.red(problem));
};

const exportAll = async (cli: Cli, out: string | undefined): Outcome => {
  if (out === undefined && process.stdout.isTTY) throw usageFailure('Say where to write it: svc audit export --out audit.jsonl');
  const count = await toPlace(out, (write) => exported(cli, write));
  if (out !== undefined) {
    if (cli.json) cli.out.json({ file: out, lines: count });
    else cli.out.line(`${cli.out.green('✓')} ${count} lines written to ${out}. Verify it anywhere with: svc audit verify --file ${out}`);
  }
  return EXIT.ok;
};

type WriteLine = (line: string) => Promise<void>;

/** From the daemon, or from the database where none runs. */
const exported = async (cli: Cli, write: WriteLine): Promise<void> => {
  try {
    const answer = await (await cli.daemon()).client.open('exportAudit', {});
    const { bytesOf } = await import('@svc/client/transport');
    const decoder = new TextDecoder();
    let rest = '';
    for await (const bytes of bytesOf(answer.body)) {
      answer.renew();
      const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) await write(line);
    }
  } catch (error) {
    await readLocalRows(cli, error instanceof Failure ? error : failureOf(error, await cli.settings.url()), 'audit', EXPORT_TABLES, async (rows) => {
      for await (const line of exportLines(rows)) await write(line);
    });
  }
};

/** A file is there when it is whole, or not at all. */
const toPlace = async (out: string | undefined, work: (write: WriteLine) => Promise<void>): Promise<number> => {
  let count = 0;
  if (out === undefined) {
    await work(async (line) => {
      count += 1;
      process.stdout.write(`${line}\n`);
    });
    return count;
  }
  const part = `${out}.part`;
  const file = await open(part, 'wx', 0o600).catch((error: unknown) => {
    throw new Failure(`${part} cannot be written: ${error instanceof Error ? error.message : String(error)}`, { code: 'cli_audit_file' });
  });
  try {
    try {
      await work(async (line) => {
        count += 1;
        await file.write(`${line}\n`);
      });
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(part, out);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
  return count;
};
