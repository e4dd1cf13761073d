/** `svc files`: the workspace of an agent, and what is uploaded to it. */
import {
  type Action,
  type Cli,
  type Command,
  type DaemonClient,
  EXIT,
  Failure,
  type Outcome,
  agoText,
  agreesAtTerminal,
  bytesText,
  failureOf,
  printable,
  readStdinBytes,
  table,
  typed,
  usageFailure,
  watched,
} from '@svc/cli/area';
import { findAgent } from '@svc/ext-agents/cli';
import { open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import type { OpenAnswer } from '@svc/client';

const AGENT = 'name or id';
const PATH = 'path in its workspace';
/** What the daemon writes at once. */
const MAX_WRITE_BYTES = 1024 * 1024;

export const define = (program: Command, action: Action): void => {
  const files = program.command('files').description('Read and write files of an agent').helpCommand(false);
  files
    .command('list')
    .description('List files')
    .argument('<agent>', AGENT)
    .argument('[path]', 'only this folder')
    .option('--deleted', 'deleted files that can be restored')
    .action(
      action(async (cli, agent: string, folder: string | undefined, flags: { deleted?: boolean }) =>
        flags.deleted ? (await import('./files/deleted-files.js')).list(cli, agent) : list(cli, agent, folder),
      ),
    );
  files
    .command('get')
    .description('Print or save a file')
    .argument('<agent>', AGENT)
    .argument('<path>', PATH)
    .option('-o, --output <file>', 'save to this file; an existing file is replaced when the download is complete')
    .action(action((cli, agent: string, file: string, flags: { output?: string }) => get(cli, agent, file, flags.output)));
  files
    .command('put')
    .description('Write a file of at most 1 MiB; an existing file is replaced')
    .argument('<agent>', AGENT)
    .argument('<file>', 'on this machine; "-" reads it from stdin')
    .argument('[path]', `${PATH}; by default, the file's name`)
    .action(action((cli, agent: string, file: string, to?: string) => put(cli, agent, file, to)));
  files
    .command('rm')
    .description('Delete a file')
    .argument('<agent>', AGENT)
    .argument('<path>', PATH)
    .option('--erase', 'at once, so that nobody can restore it')
    .action(action((cli, agent: string, file: string, flags: { erase?: boolean }) => remove(cli, agent, file, flags.erase === true)));
  files
    .command('restore')
    .description('Restore a deleted file')
    .argument('<agent>', AGENT)
    .argument('<file>', 'its path when it was deleted, or its id from `svc files list --deleted`')
    .argument('[path]', `${PATH}; by default, where it was`)
    .action(action(async (cli, agent: string, file: string, to?: string) => (await import('./files/deleted-files.js')).restore(cli, { agent, file, to })));
  files
    .command('upload')
    .description('Upload a file to attach to messages; it can be larger')
    .argument('<agent>', AGENT)
    .argument('<file>')
    .action(action((cli, agent: string, file: string) => upload(cli, agent, file)));
};

/** Both ends: the daemon, and the agent there. */
const at = async (cli: Cli, wanted: string): Promise<{ daemon: DaemonClient; id: string; name: string }> => {
  const daemon = await cli.daemon();
  const { id, name } = await findAgent(daemon, wanted);
  return { daemon, id, name };
};

const list = async (cli: Cli, wanted: string, folder: string | undefined): Outcome => {
  const { daemon, id, name } = await at(cli, wanted);
  const all = await daemon.call('listAgentFiles', { id });
  const prefix =
    folder === undefined
      ? ''
      : path.posix
          .normalize(folder)
          .replace(/^(?:\.?\/)+|^\.$/g, '')
          .replace(/\/+$/, '');
  const files = all.files.filter((file) => prefix === '' || file.name === prefix || file.name.startsWith(`${prefix}/`));
  if (cli.json) cli.out.json({ files, total: files.length, truncated: all.truncated });
  else if (files.length === 0) cli.out.line(prefix === '' ? `The workspace of ${name} is empty.` : `The workspace of ${name} has nothing at ${prefix}.`);
  else {
    const now = Date.now();
    const { dim } = cli.out;
    const rows = files.map((file) => [printable(file.name), bytesText(file.size_bytes), agoText(file.modified_at, now), file.kind === 'identity' ? 'identity file' : '']);
    for (const line of table([{ title: 'FILE' }, { title: 'SIZE' }, { title: 'CHANGED', givesWay: true }, { title: '' }], rows, cli.out.width, (text, column, row) =>
      row < 0 || column > 0 ? dim(text) : text,
    ))
      cli.out.line(line);
    if (all.truncated) cli.out.note(cli.out.yellow('There are more: a workspace is looked through up to a bound.'));
  }
  return EXIT.ok;
};

const get = async (cli: Cli, wanted: string, file: string, output: string | undefined): Outcome => {
  const { daemon, id, name } = await at(cli, wanted);
  const ask = async (): Promise<AsyncGenerator<Uint8Array>> => {
    const options = { headers: { accept: 'application/octet-stream' } };
    return bytesFrom(daemon, await daemon.client.open('getAgentFile', { id, filename: file, raw: '1' }, options).catch((error: unknown) => fromDaemon(failureOf(error, daemon.url), name)));
  };
  return output === undefined ? print(cli, file, await ask()) : save(cli, { name: file, output }, ask);
};

/** The daemon's hint is about its interface; here there is a command. */
const fromDaemon = (error: unknown, name: string): never => {
  if (!(error instanceof Failure) || !['files_not_found', 'files_not_a_file'].includes(error.code)) throw error;
  throw new Failure(error.message, { code: error.code, fix: `svc files list ${name}`, requestId: error.requestId });
};

/** What comes keeps the connection alive. */
async function* bytesFrom(daemon: DaemonClient, answer: OpenAnswer): AsyncGenerator<Uint8Array> {
  const { bytesOf } = await import('@svc/client/transport');
  try {
    for await (const bytes of bytesOf(answer.body)) {
      answer.renew();
      yield bytes;
    }
  } catch (error) {
    throw failureOf(answer.explain(error), daemon.url);
  } finally {
    answer.close();
  }
}

const unwritable =
  (output: string) =>
  (error: unknown): never => {
    throw new Failure(`${output} cannot be written.`, { code: 'cli_file_unwritable', why: error instanceof Error ? error.message : String(error), fix: 'name another file' });
  };

/** Beside its place first: half a file never takes the place of a whole one. Nothing is asked for where nothing can be written. */
const save = async (cli: Cli, { name, output }: { name: string; output: string }, ask: () => Promise<AsyncIterable<Uint8Array>>): Outcome => {
  const part = `${output}.part-${process.pid}`;
  const handle = await open(part, 'wx').catch(unwritable(output));
  let size = 0;
  try {
    for await (const bytes of await ask()) {
      await handle.appendFile(bytes).catch(unwritable(output));
      size += bytes.byteLength;
    }
    await handle.close();
    await rename(part, output).catch(unwritable(output));
  } catch (error) {
    await handle.close();
    await rm(part, { force: true });
    throw error;
  }
  if (cli.json) cli.out.json({ status: 'saved', name, file: output, size_bytes: size });
  else cli.out.line(`${cli.out.green('✓')} ${output} has ${bytesText(size)}`);
  return EXIT.ok;
};

const print = async (cli: Cli, name: string, pieces: AsyncIterable<Uint8Array>): Outcome => {
  // A program takes the bytes as they are and as they come.
  if (!cli.json && !cli.out.isTty) {
    for await (const bytes of pieces) if (!process.stdout.write(bytes)) await new Promise((resolve) => process.stdout.once('drain', resolve));
    return EXIT.ok;
  }
  const parts: Uint8Array[] = [];
  for await (const bytes of pieces) parts.push(bytes);
  const whole = Buffer.concat(parts);
  const text = asText(whole);
  if (cli.json) cli.out.json({ name, content: text ?? whole.toString('base64'), encoding: text === undefined ? 'base64' : 'utf-8', size_bytes: whole.byteLength });
  else if (text === undefined) throw new Failure(`${name} is not text.`, { code: 'cli_not_text', why: 'binary data cannot be printed', fix: '-o FILE   saves it' });
  else cli.out.write(printable(text.endsWith('\n') ? text : `${text}\n`));
  return EXIT.ok;
};

/** Undefined where the bytes are no UTF-8 text. */
const asText = (bytes: Uint8Array): string | undefined => {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.includes('\u0000') ? undefined : text;
  } catch {
    return undefined; // other bytes than text
  }
};

const put = async (cli: Cli, wanted: string, file: string, to: string | undefined): Outcome => {
  if (file === '-' && to === undefined) throw usageFailure('A file from stdin has no name. Give one.', `svc files put ${wanted} - PATH`);
  const { bytesOfFile } = await import('./files/upload-file.js');
  const { daemon, id } = await at(cli, wanted);
  const bytes =
    file === '-' ? await readStdinBytes(MAX_WRITE_BYTES) : await bytesOfFile(file, MAX_WRITE_BYTES, { missing: 'name a file of this machine', tooLarge: `svc files upload ${wanted} ${file}` });
  const text = asText(bytes);
  const body = text === undefined ? { content: bytes.toString('base64'), encoding: 'base64' as const } : { content: text };
  const written = await daemon.call('putAgentFile', { id, filename: to ?? path.basename(file), body });
  if (cli.json) cli.out.json(written);
  else cli.out.line(`${cli.out.green('✓')} ${written.name} ${written.created ? 'is written' : 'is replaced'} (${bytesText(written.size_bytes)})`);
  return EXIT.ok;
};

const remove = async (cli: Cli, wanted: string, file: string, erase: boolean): Outcome => {
  const { daemon, id, name } = await at(cli, wanted);
  if (!(await agreesAtTerminal(cli, `${erase ? 'Erase' : 'Delete'} ${file} from the workspace of ${name}?${erase ? ' This cannot be undone.' : ''}`))) return EXIT.ok;
  const answer = await daemon.call('deleteAgentFile', { id, filename: file, ...(erase ? { erase } : {}) }).catch((error: unknown) => fromDaemon(error, name));
  if (cli.json) cli.out.json({ ...answer, status: 'deleted' });
  else {
    const later = answer.restorable_until === null ? '' : typed(`; until ${answer.restorable_until.slice(0, 10)}: svc files restore ${name} ${answer.file_id}`);
    cli.out.line(`${cli.out.green('✓')} ${answer.name} is ${answer.restorable_until === null ? 'erased' : 'deleted'}${later}`);
  }
  return EXIT.ok;
};

const upload = async (cli: Cli, wanted: string, file: string): Outcome => {
  const { uploadFile } = await import('./files/upload-file.js');
  const { daemon, id, name } = await at(cli, wanted);
  const kept = await watched(cli.out, `sending ${path.basename(file)}`, uploadFile(daemon, id, file, 'name a file of this machine'));
  if (cli.json) cli.out.json(kept);
  else {
    cli.out.line(`${cli.out.green('✓')} ${kept.filename} is uploaded (${kept.content_type}, ${bytesText(kept.size)})  ${cli.out.dim(kept.file_id)}`);
    cli.out.line(`  ${typed(`in a conversation @FILE does the same: svc chat ${name}`)}`);
  }
  return EXIT.ok;
};
