/** The migrations of this area, in their order. */
import { llmTables } from '../migrations/0001_tables.js';
import { fewerIndexes } from '../migrations/0006_trees.js';

export const migrations = [llmTables, fewerIndexes];
