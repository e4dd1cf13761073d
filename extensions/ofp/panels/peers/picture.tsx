/** This daemon in the middle, the others around it, and the agents of each beside it. */
import { count } from '@svc/kit';
import { t } from './words.js';

interface Agent {
  readonly id: string;
  readonly name: string;
}
interface PeerNode {
  readonly node_id: string;
  readonly node_name: string;
  readonly state: 'connected' | 'disconnected';
  readonly agents: readonly Agent[];
  readonly messages_per_minute: number;
}

const WIDTH = 800;
const HEIGHT = 480;
const MAX_NODES = 24;
const MAX_AGENTS = 5;
const MAX_NAME = 22;
const LINE = 15;

const cut = (text: string): string => (text.length > MAX_NAME ? `${text.slice(0, MAX_NAME)}…` : text);

export const Picture = ({ own, peers }: { own: { readonly name: string; readonly agents: readonly Agent[] }; peers: readonly PeerNode[] }) => {
  const shown = [...peers].sort((a, b) => Number(b.state === 'connected') - Number(a.state === 'connected')).slice(0, MAX_NODES);
  const [x, y] = [WIDTH / 2, HEIGHT / 2];
  const placed = shown.map((peer, index) => {
    const angle = (index / shown.length) * 2 * Math.PI - Math.PI / 2;
    return { peer, x: x + Math.cos(angle) * (WIDTH / 2 - 150), y: y + Math.sin(angle) * (HEIGHT / 2 - 90) };
  });
  return (
    <svg class="peers-picture" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={t('picture', { count: count(shown.length) })}>
      {placed.map(({ peer, x: toX, y: toY }) => (
        <g key={peer.node_id}>
          <line x1={x} y1={y} x2={toX} y2={toY} class={peer.state} />
          {peer.state === 'connected' && (
            <text x={(x + toX) / 2} y={(y + toY) / 2 - 4} class="rate">
              {t('rate', { count: count(peer.messages_per_minute) })}
            </text>
          )}
        </g>
      ))}
      {placed.map(({ peer, x: atX, y: atY }) => (
        <Node key={peer.node_id} x={atX} y={atY} name={peer.node_name} agents={peer.agents} state={peer.state} />
      ))}
      <Node x={x} y={y} name={own.name} agents={own.agents} state="own" />
    </svg>
  );
};

const Node = ({ x, y, name, agents, state }: { x: number; y: number; name: string; agents: readonly Agent[]; state: string }) => {
  const names = agents.slice(0, MAX_AGENTS).map((agent) => cut(agent.name));
  const lines = agents.length > MAX_AGENTS ? [...names, t('more', { count: count(agents.length - MAX_AGENTS) })] : names;
  return (
    <g class={`node ${state}`}>
      <circle cx={x} cy={y} r={9} />
      <text x={x + 14} y={y + 4} class="name">
        {cut(name)}
      </text>
      {lines.map((line, index) => (
        <text key={`${index} ${line}`} x={x + 14} y={y + 4 + (index + 1) * LINE}>
          {line}
        </text>
      ))}
    </g>
  );
};
