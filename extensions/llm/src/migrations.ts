/** The migrations of this area, in their order. */
import { init } from '../migrations/0001_init.js';
import { reservations } from '../migrations/0002_reservations.js';
import { begunBy } from '../migrations/0003_begun.js';
import { oneIndex } from '../migrations/0004_index.js';
import { roots } from '../migrations/0005_roots.js';

export const migrations = [init, reservations, begunBy, oneIndex, roots];
