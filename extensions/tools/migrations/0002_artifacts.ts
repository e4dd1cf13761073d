import { createTables } from '@svc/api';
import { ArtifactPieces, ArtifactRows } from '../src/artifacts/artifact-rows.js';

export const artifactTables = createTables('0002_artifacts', [ArtifactRows, ArtifactPieces]);
