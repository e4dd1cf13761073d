import { createTables } from '@svc/api';
import { ArmRows, ExperimentRows, TrialRows, VersionRows } from '../src/contract.js';

export const promptTables = createTables('0001_init', [VersionRows, ExperimentRows, ArmRows, TrialRows]);
