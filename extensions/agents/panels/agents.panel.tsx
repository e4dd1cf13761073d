import './agents/agents.css';
import { definePanel, type PanelProps } from '@svc/kit';
import { AroundAgent } from './agents/agent-tabs.js';
import { AgentList } from './agents/agent-list.js';
import { NewAgent } from './agents/new-agent.js';
import { OneAgent } from './agents/one-agent.js';

/** `#/agents`, `#/agents/new`, `#/agents/<id>`. */
const Agents = ({ path: [at] }: PanelProps) => {
  if (at === undefined) return <AgentList />;
  return at === 'new' ? <NewAgent /> : <OneAgent key={at} id={at} />;
};

export const panel = definePanel({ view: Agents, around: AroundAgent });
