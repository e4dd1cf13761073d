/** What commands of other areas use. */
export * from './preview-lines.js';
export { turnApprovalsOn } from './turn-on.js';
