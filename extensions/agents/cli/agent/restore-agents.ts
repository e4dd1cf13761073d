/** `svc agent restore`: out of the bin. */
import { type Cli, EXIT, type Outcome } from '@svc/cli/area';
import { agentNamed, listAgents } from './agent-lookup.js';

export const restore = async (cli: Cli, wanted: readonly string[]): Outcome => {
  const daemon = await cli.daemon();
  const deleted = await listAgents(daemon, { deleted: 'only' });
  // All are found before the first one comes back. Of several with one name, the one that was deleted last.
  const found = [...new Set(wanted.map((one) => agentNamed(deleted, one, 'svc agent list --deleted')))];
  for (const { id } of found) await daemon.call('resumeAgent', { id });
  if (cli.json) cli.out.json({ status: 'restored', agents: found.map(({ id, name }) => ({ agent_id: id, name })) });
  else cli.out.line(`${cli.out.green('✓')} ${found.map(({ name }) => name).join(', ')} ${found.length === 1 ? 'is' : 'are'} back`);
  return EXIT.ok;
};
