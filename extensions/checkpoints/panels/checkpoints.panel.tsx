import './checkpoints/checkpoints.css';
import { definePanel, type PanelProps } from '@svc/kit';
import { CheckpointList } from './checkpoints/checkpoint-list.js';
import { CheckpointView } from './checkpoints/checkpoint-view.js';

/** `#/checkpoints`, `#/checkpoints/<agent id>`, `#/checkpoints/<agent id>/<commit>`. */
const Checkpoints = ({ path: [agentId, commit] }: PanelProps) =>
  agentId !== undefined && commit !== undefined ? <CheckpointView key={commit} agentId={agentId} commit={commit} /> : <CheckpointList key={agentId} agentId={agentId} />;

export const panel = definePanel({ view: Checkpoints });
