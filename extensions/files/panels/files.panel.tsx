import './files/files.css';
import { definePanel, type PanelProps } from '@svc/kit';
import { AgentChoice } from './files/agent-choice.js';
import { Workspace } from './files/workspace.js';

/** `#/files`, `#/files/<agent id>/<folder>/<file>`. */
const Files = ({ path: [agentId, ...path] }: PanelProps) => (agentId === undefined ? <AgentChoice /> : <Workspace key={agentId} agentId={agentId} path={path} />);

export const panel = definePanel({ view: Files });
