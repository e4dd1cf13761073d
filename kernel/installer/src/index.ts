/** @svc/installer: from the source of an extension to what can be installed. */
export { capabilityNameFault } from '@svc/api';
export { grantFaults, Manifest } from '@svc/api/internal';
export { areaWordsOf } from './commands/area-words.js';
export { completionsOf } from './commands/completions.js';
export { type AllContributions, deriveContributions, namesOf } from './contributions.js';
export { loadBundle } from './load-bundle.js';
export { recordingContext, schemaDefaults } from './recording-context.js';
