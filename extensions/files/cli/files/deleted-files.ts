/** `svc files list --deleted` and `svc files restore`: files in the bin. */
import { agoText, bytesText, type Cli, type DaemonClient, EXIT, Failure, type Outcome, printable, table } from '@svc/cli/area';
import type { OutputOf } from '@svc/client';
import { findAgent } from '@svc/ext-agents/cli';

type DeletedFile = OutputOf<'listUploads'>['rows'][number];

const PAGE = 200;

const deletedOf = async (daemon: DaemonClient, agentId: string): Promise<DeletedFile[]> => {
  const found: DeletedFile[] = [];
  for (;;) {
    const { rows, total } = await daemon.call('listUploads', { deleted: 'only', agent_id: agentId, limit: PAGE, offset: found.length });
    found.push(...rows);
    if (rows.length === 0 || found.length >= total) return found;
  }
};

export const list = async (cli: Cli, wanted: string): Outcome => {
  const daemon = await cli.daemon();
  const { id } = await findAgent(daemon, wanted);
  const files = await deletedOf(daemon, id);
  if (cli.json) cli.out.json({ files, total: files.length });
  else if (files.length === 0) cli.out.line('No deleted file can be restored.');
  else {
    const now = Date.now();
    const rows = files.map((file) => [
      printable(file.path ?? file.filename),
      bytesText(file.size),
      agoText(file.deleted_at ?? file.created_at, now),
      `until ${file.restorable_until?.slice(0, 10) ?? ''}`,
      file.file_id,
    ]);
    const columns = [{ title: 'FILE', shrinks: true }, { title: 'SIZE' }, { title: 'DELETED', givesWay: true }, { title: '' }, { title: 'ID' }];
    for (const line of table(columns, rows, cli.out.width, (text, column, row) => (row < 0 || column > 0 ? cli.out.dim(text) : text))) cli.out.line(line);
  }
  return EXIT.ok;
};

export const restore = async (cli: Cli, { agent: wanted, file, to }: { agent: string; file: string; to: string | undefined }): Outcome => {
  const daemon = await cli.daemon();
  const { id, name } = await findAgent(daemon, wanted);
  // The newest first: of several with one path, the one that was deleted last.
  const found = (await deletedOf(daemon, id)).find((one) => one.file_id === file || one.path === file);
  if (found?.path === undefined)
    throw new Failure(`${name} has no deleted file "${file}" that can be restored.`, {
      code: 'files_not_found',
      why: 'it was never there, or its time in the bin is over',
      fix: `svc files list ${name} --deleted`,
    });
  const back = await daemon.call('putAgentFile', { id, filename: to ?? found.path, body: { restore: found.file_id } }).catch((error: unknown) => {
    if (!(error instanceof Failure) || error.code !== 'files_already_there') throw error;
    throw new Failure(error.message, { code: error.code, fix: `svc files restore ${name} ${found.file_id} OTHER-PATH`, requestId: error.requestId });
  });
  if (cli.json) cli.out.json({ ...back, status: 'restored' });
  else cli.out.line(`${cli.out.green('✓')} ${back.name} is back (${bytesText(back.size_bytes)})`);
  return EXIT.ok;
};
