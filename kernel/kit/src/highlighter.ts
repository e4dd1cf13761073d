/** The code that colours code: the page starts without it. */
import type { Highlighted } from './highlight/index.js';
import { besideKit } from './later-code.js';

type Highlighter = typeof import('./highlight/index.js');

export type { Highlighted };

export const highlighter = (): Promise<Highlighter> => besideKit('/ui/highlight.js');
