/** The code that colours code: the page starts without it. */
import type { Highlighted } from './highlight/index.js';

/** Built beside the kit; a name in a variable keeps it out of the kit's own file. */
const HIGHLIGHT = '/ui/highlight.js';
type Highlighter = typeof import('./highlight/index.js');

export type { Highlighted };

export const highlighter = (): Promise<Highlighter> => import(HIGHLIGHT) as Promise<Highlighter>; // what is built under this address
