/** What agents did and do: runs with filters in the address, and one with its steps in time. `#/runs`, `#/runs/<id>`. */
import './runs/runs.css';
import { definePanel, type PanelProps } from '@svc/kit';
import { RunList } from './runs/run-list.js';
import { RunView } from './runs/run-view.js';

const Runs = ({ path: [id] }: PanelProps) => (id === undefined ? <RunList /> : <RunView key={id} id={id} />);

export const panel = definePanel({ view: Runs });
