/** `svc security`: the table of the report; it ends with 1 if a protection failed. */
import { type Action, type Cli, type Command, EXIT, type Outcome, printable, typed, wrap } from '@svc/cli/area';
import type { SecurityReport } from '@svc/client';

type State = SecurityReport['security_systems'][string];

const STATES = ['active', 'degraded', 'inactive', 'failed'] as const satisfies readonly State[];
const STATE_WIDTH = Math.max(...STATES.map((state) => state.length));
const GAP = 2;
/** On a narrower terminal the text stands below the name. */
const MIN_TEXT = 40;
const NARROW_MARGIN = 4;

export const define = (program: Command, action: Action): void => {
  program.command('security').description('Try every protection of the daemon, and show what was seen; exit code 1 if one failed').helpCommand(false).action(action(show));
};

const show = async (cli: Cli): Outcome => {
  const report = await (await cli.daemon()).call('getSecurityReport');
  if (cli.json) cli.out.json(report);
  else print(cli, report);
  return Object.values(report.security_systems).includes('failed') ? EXIT.failed : EXIT.ok;
};

const print = ({ out }: Cli, { evidence }: SecurityReport): void => {
  const rows = Object.entries(evidence);
  const paint: Readonly<Record<State, (text: string) => string>> = { active: out.green, degraded: out.yellow, inactive: out.dim, failed: out.red };
  const names = Math.max(...rows.map(([name]) => name.length));
  const wide = names + GAP + STATE_WIDTH + GAP;
  const isNarrow = out.width - wide < MIN_TEXT;
  const margin = isNarrow ? NARROW_MARGIN : wide;
  for (const [name, { state, detail }] of rows) {
    const lines = wrap(typed(printable(detail)), out.width - margin);
    const beside = isNarrow ? '' : ' '.repeat(STATE_WIDTH - state.length + GAP) + (lines.shift() ?? '');
    out.line(`${name.padEnd(names + GAP)}${paint[state](state)}${beside}`);
    for (const line of lines) out.line(' '.repeat(margin) + line);
  }
  const count = (state: State): number => rows.filter(([, one]) => one.state === state).length;
  out.line(`\n${STATES.flatMap((state) => (count(state) > 0 ? [`${count(state)} ${state}`] : [])).join(', ')}`);
};
