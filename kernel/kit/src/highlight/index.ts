/** @svc/kit/highlight: colours of code. Loaded with the first code that is shown. */
export { type Highlighted, highlighted } from './highlighted.js';
