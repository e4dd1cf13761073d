/** Messages of our agents to agents of other daemons: `name@node`. */
import type { PeerAgentsService } from '@svc/ext-runs/contract';
import type { ConnectedNode } from './node/registry.js';
import type { Network } from './node/network.js';
import { whyOff } from './node/network.js';
import type { NetworkSettings } from './config.js';

/** Longer than the other side lets its agent think. */
const ANSWER_MS = 620_000;

export interface OutboundDeps {
  readonly network: Pick<Network, 'registry' | 'ask'>;
  readonly closing: AbortSignal;
  settings(): Pick<NetworkSettings, 'shared_secret'> & { readonly enabled: boolean };
}

const failed = (content: string) => ({ content, isError: true, source: '' });

export const createOutbound = ({ network, closing, settings }: OutboundDeps): PeerAgentsService => ({
  send: async (_actor, { from, to, message }) => {
    const at = to.lastIndexOf('@');
    const [agent, nodeText] = [to.slice(0, at), to.slice(at + 1)];
    const why = whyOff(settings());
    if (why !== undefined) return failed(`${to} is not reached. ${why}`);
    const nodes = network.registry.named(nodeText);
    const [node] = nodes;
    if (!node) return failed(`No peer "${nodeText}" is connected. ${connectedNow(network.registry.all())}`);
    if (nodes.length > 1) return failed(`Several peers are called "${nodeText}". Use the id of one: ${nodes.map(({ nodeId }) => nodeId).join(', ')}.`);
    try {
      const answer = await network.ask(node, { method: 'agent_message', agent, message, sender: from }, ANSWER_MS, closing);
      if (answer.method === 'agent_response') return { content: answer.text, isError: false, source: `${agent} at the peer ${node.nodeName}` };
      return failed(answer.method === 'error' ? `${to} could not answer: ${answer.message}` : `${to} gave no answer.`);
    } catch (error) {
      return failed(`${to} was not reached: ${error instanceof Error ? error.message : String(error)}.`);
    }
  },
});

const connectedNow = (nodes: readonly ConnectedNode[]): string => (nodes.length === 0 ? 'None is connected now.' : `Connected now: ${nodes.map(({ nodeName }) => nodeName).join(', ')}.`);
