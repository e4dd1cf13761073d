import { createTables } from '@svc/api';
import { ArtifactPieces, ArtifactRows } from '../src/artifacts/artifact-rows.js';
import { ProcessRows } from '../src/processes/process-rows.js';

/** All tables of this area. */
export const toolTables = createTables('0001_tables', [ProcessRows, ArtifactRows, ArtifactPieces], {
  replaces: ['0001_processes', '0002_artifacts'],
});
