/** The migrations of this area, in their order. */
import { init } from '../migrations/0001_init.js';
import { reservations } from '../migrations/0002_reservations.js';
import { begunBy } from '../migrations/0003_begun.js';
import { oneIndex } from '../migrations/0004_index.js';
import { roots } from '../migrations/0005_roots.js';
import { fewerIndexes } from '../migrations/0006_trees.js';

export const migrations = [init, reservations, begunBy, oneIndex, roots, fewerIndexes];
