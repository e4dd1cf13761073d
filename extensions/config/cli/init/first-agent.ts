/** An agent to chat with. */
import { type DaemonClient, askText } from '@svc/cli/area';
import { listAgents } from '@svc/ext-agents/cli';

const USUAL_NAME = 'assistant';

/** Undefined where a person wants none. */
export const firstAgent = async (daemon: DaemonClient, wanted: string | undefined, isAsking: boolean): Promise<{ readonly name: string; readonly created: boolean } | undefined> => {
  const agents = await listAgents(daemon);
  const [there] = wanted === undefined ? agents : agents.filter(({ name }) => name === wanted);
  if (there !== undefined) return { name: there.name, created: false };
  const name = wanted ?? (isAsking ? await askText('Name of your first agent (- for none)', USUAL_NAME, () => undefined) : USUAL_NAME);
  if (name === '-') return undefined;
  const { templates } = await daemon.call('listTemplates');
  const template = templates.some((one) => one.name === USUAL_NAME) ? { template: USUAL_NAME } : {};
  const made = await daemon.call('spawnAgent', { body: { name, ...template } });
  return { name: made.name, created: true };
};
