import { createTables } from '@svc/api';
import { SecretRotations } from '../src/contract.js';

export const rotationTable = createTables('0003_rotations', [SecretRotations]);
