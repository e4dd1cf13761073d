import { createTables } from '@svc/api';
import { ManifestRows } from '../src/contract.js';

export const manifestTriggerTable = createTables('0002_manifest', [ManifestRows]);
