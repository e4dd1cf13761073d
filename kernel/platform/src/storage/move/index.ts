/** Moving all data of a database into another one, and looking at a database from outside. */
export { identityProblemOf, noteIdentity } from '../contract/migrations/identity.js';
export type { MoveProgress } from './copy-tables.js';
export { moveErrors } from './errors.js';
export { FORGET_MARK, type MoveMark } from './marks.js';
export type { MoveEnd } from './move-end.js';
export type { MovedOwner } from './move-plan.js';
export { markOf, moveStorage, previewMove } from './move-storage.js';
export { openEnd } from './open-end.js';
