/** The migrations of this area, in their order. */
import { init } from '../migrations/0001_init.js';
import { thinking } from '../migrations/0002_thinking.js';
import { catalogue } from '../migrations/0003_catalogue.js';
import { branches } from '../migrations/0004_branches.js';
import { versions } from '../migrations/0005_versions.js';
import { titles } from '../migrations/0006_titles.js';
import { models } from '../migrations/0007_models.js';
import { shares } from '../migrations/0008_shares.js';
import { tags } from '../migrations/0009_tags.js';
import { bin } from '../migrations/0010_bin.js';

export const migrations = [init, thinking, catalogue, branches, versions, titles, models, shares, tags, bin];
