/** `svc approvals`: what waits, what exactly it would do, and the decision. */
import { type Action, agoText, type Cli, type Command, type DaemonClient, EXIT, Failure, type Outcome, printable, table, usageFailure } from '@svc/cli/area';
import { previewLines, reviewLines, sentenceOf, type Approval } from './preview-lines.js';
import { defineTotp } from './totp.js';
import { turnApprovalsOn } from './turn-on.js';

const TIMES = ['hour', 'session', 'always'] as const;

export const define = (program: Command, action: Action): void => {
  const approvals = program
    .command('approvals')
    .description('Tool calls that wait for you')
    .helpCommand(false)
    .action(action((cli) => list(cli, {})));
  approvals
    .command('list')
    .description('List calls that wait for you; --all also lists those that were decided')
    .option('--all', 'also those that were decided')
    .action(action((cli, options: { all?: boolean }) => list(cli, options)));
  approvals
    .command('show')
    .description('Show exactly what a call would do')
    .argument('[id]', 'of the request; the only one that waits when left out')
    .action(action((cli, id?: string) => show(cli, id)));
  approvals
    .command('approve')
    .description('Approve a call; the agent goes on')
    .argument('[id]', 'of the request; the only one that waits when left out')
    .option('--code <code>', 'from your authenticator, or a recovery code')
    .option('--remember <time>', `also approve the same call later: ${TIMES.join(', ')}`)
    .action(action((cli, id: string | undefined, options: { code?: string; remember?: string }) => approve(cli, id, options)));
  approvals
    .command('reject')
    .description('Reject a call; the agent is told')
    .argument('[id]', 'of the request; the only one that waits when left out')
    .option('--reason <text>', 'what the agent is told')
    .action(action((cli, id: string | undefined, options: { reason?: string }) => reject(cli, id, options)));
  approvals
    .command('on')
    .description('Let commands and file changes of agents wait for you; asks first')
    .action(action((cli) => turnOn(cli)));
  defineTotp(approvals, action);
};

const turnOn = async (cli: Cli): Outcome => {
  const daemon = await cli.daemon();
  const isOn = await turnApprovalsOn(cli, daemon);
  if (cli.json) cli.out.json({ asking: isOn });
  else if (isOn) cli.out.line(`${cli.out.green('✓')} Commands and file changes of agents wait for you from now on. See them with: svc approvals`);
  else cli.out.line('Nothing was changed.');
  return EXIT.ok;
};

const list = async (cli: Cli, { all = false }: { all?: boolean }): Outcome => {
  const daemon = await cli.daemon();
  const found = await daemon.call('listApprovals', all ? { limit: 100 } : { status: 'pending', limit: 100 });
  if (cli.json) {
    cli.out.json(found);
    return EXIT.ok;
  }
  if (found.approvals.length === 0) cli.out.line(all ? 'There are no approval requests.' : 'Nothing waits for your approval.');
  else {
    const rows = found.approvals.map((one) => [one.id, one.status, one.agent_name, printable(one.action_summary), agoText(one.requested_at, Date.now())]);
    const columns = [{ title: 'ID' }, { title: 'STATE' }, { title: 'AGENT' }, { title: 'CALL', shrinks: true }, { title: 'WHEN', givesWay: true }];
    for (const line of table(columns, rows, cli.out.width)) cli.out.line(line);
    if (!all) cli.out.note(cli.out.dim('  next  svc approvals show ID'));
  }
  if (!found.asking) {
    cli.out.note(cli.out.dim('  Agents run commands and change files without asking you. To be asked first: svc approvals on'));
  }
  return EXIT.ok;
};

/** By its id, or the only one that waits. */
const requestOf = async (daemon: DaemonClient, id: string | undefined): Promise<Approval> => {
  if (id !== undefined) return daemon.call('getApproval', { id });
  const { approvals } = await daemon.call('listApprovals', { status: 'pending', limit: 2 });
  const [only, another] = approvals;
  if (!only) throw new Failure('Nothing waits for your approval.', { code: 'approvals_none' });
  if (another) throw usageFailure('Several calls wait for your approval. Say which one.', 'svc approvals list');
  return only;
};

const printRequest = (cli: Cli, request: Approval, isWhole = false): void => {
  const { out } = cli;
  out.line(`${sentenceOf(request)} ${out.dim(`(${printable(request.tool_name)}, ${request.risk_level} risk, ${printable(request.description)})`)}`);
  for (const line of [...reviewLines(request, out), ...previewLines(request, out, isWhole)]) out.line(line);
};

const show = async (cli: Cli, id: string | undefined): Outcome => {
  const request = await requestOf(await cli.daemon(), id);
  if (cli.json) cli.out.json(request);
  else {
    printRequest(cli, request, true);
    if (request.status !== 'pending') cli.out.line(`${request.status}${request.decided_by === null ? '' : ` by ${request.decided_by}`}`);
    else cli.out.note(cli.out.dim(`  next  svc approvals approve ${request.id}${request.needs_totp ? ' --code CODE' : ''}, or svc approvals reject ${request.id}`));
  }
  return EXIT.ok;
};

const approve = async (cli: Cli, id: string | undefined, { code, remember }: { code?: string; remember?: string }): Outcome => {
  const time = TIMES.find((one) => one === remember);
  if (remember !== undefined && time === undefined) throw usageFailure(`--remember is one of ${TIMES.join(', ')}.`);
  const daemon = await cli.daemon();
  const request = await requestOf(daemon, id);
  // Whoever did not name it has not seen it either.
  if (id === undefined && !cli.json) printRequest(cli, request);
  const answer = await daemon.call('approveApproval', {
    id: request.id,
    body: { ...(code === undefined ? {} : { totp_code: code }), ...(time === undefined ? {} : { remember: { what: 'call' as const, for: time } }) },
  });
  if (cli.json) cli.out.json(answer);
  else cli.out.line(`${cli.out.green('✓')} Approved. ${printable(request.agent_name)} goes on.`);
  return EXIT.ok;
};

const reject = async (cli: Cli, id: string | undefined, { reason }: { reason?: string }): Outcome => {
  const daemon = await cli.daemon();
  const request = await requestOf(daemon, id);
  const answer = await daemon.call('rejectApproval', { id: request.id, body: reason === undefined ? {} : { feedback: reason } });
  if (cli.json) cli.out.json(answer);
  else cli.out.line(`${cli.out.green('✓')} Rejected. ${printable(request.agent_name)} was told.`);
  return EXIT.ok;
};
